import { createSnippet, removeSnippet, updateSnippet } from '../actions/snippets.ts';
import { forbidden, missing, notFound } from '../errors.ts';
import { signedIn } from '../http/access.ts';
import { bytes } from '../http/answers.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { integer, optional, pathId, text } from '../http/params.ts';
import { presentSnippet, SnippetJson } from '../present/snippet.ts';
import { findSnippet, listOwnSnippets, readSnippet, type SnippetRow } from '../queries/snippets.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { sendSnippet, snippetContent } from './snippet-content.ts';

/** What stands in it is `content` to most clients, and `code` to those that treat it like one of a project. */
const contents = { content: optional(snippetContent()), code: optional(snippetContent()) };

const list = endpoint({
  method: 'GET',
  path: '/snippets',
  summary: 'Personal snippets of the caller, newest first',
  access: signedIn(),
  returns: SnippetJson,
  list: true,
  async run({ viewer, page, work }) {
    const rows = await paginate<SnippetRow>(work.em, listOwnSnippets(viewer.id), page);
    return rows.map((row) => presentSnippet(row, work.origin));
  },
});

const get = endpoint({
  method: 'GET',
  path: '/snippets/:id',
  summary: 'A personal snippet of the caller, or of others as far as it is for all, without its content',
  access: signedIn(),
  params: { id: pathId() },
  returns: SnippetJson,
  async run({ viewer, params, work }) {
    return presentSnippet(await requireSnippet(work, viewer, params.id), work.origin);
  },
});

const raw = endpoint({
  method: 'GET',
  path: '/snippets/:id/raw',
  summary: 'The content of a personal snippet',
  access: signedIn(),
  params: { id: pathId() },
  returns: bytes('text/plain'),
  async run({ viewer, params, work }) {
    const found = await readSnippet(work.em, { viewer, project: null }, params.id);
    if (!found) throw notFound('Snippet');
    return sendSnippet(found);
  },
});

const create = endpoint({
  method: 'POST',
  path: '/snippets',
  summary: 'Makes a personal snippet',
  access: signedIn(),
  params: { title: text(), file_name: text(), ...contents, visibility_level: optional(integer()) },
  returns: SnippetJson,
  async run({ viewer, params, work }) {
    const content = params.content ?? params.code;
    if (content === undefined) throw missing('content');
    const { title, file_name: fileName, visibility_level: visibilityLevel } = params;
    const place = { viewer, projectId: null };
    const id = await createSnippet(work, place, { title, fileName, content, visibilityLevel });
    return presentSnippet(await requireSnippet(work, viewer, id), work.origin);
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/snippets/:id',
  summary: 'Changes a personal snippet of the caller',
  access: signedIn(),
  params: {
    id: pathId(),
    title: optional(text()),
    file_name: optional(text()),
    ...contents,
    visibility_level: optional(integer()),
  },
  returns: SnippetJson,
  async run({ viewer, params, work }) {
    const row = await requireSnippet(work, viewer, params.id);
    requireOwn(viewer, row);
    const { title, file_name: fileName, visibility_level: visibilityLevel } = params;
    const content = params.content ?? params.code;
    await updateSnippet(work, { viewer, row }, { title, fileName, content, visibilityLevel });
    return presentSnippet(await requireSnippet(work, viewer, row.id), work.origin);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/snippets/:id',
  summary: 'Removes a personal snippet of the caller; null when there is none',
  access: signedIn(),
  params: { id: pathId() },
  returns: SnippetJson.nullable(),
  async run({ viewer, params, work }) {
    const row = await findSnippet(work.em, { viewer, project: null }, params.id);
    if (!row) return null;
    requireOwn(viewer, row);
    await removeSnippet(work, row.id);
    return presentSnippet(row, work.origin);
  },
});

export const endpoints: Endpoint[] = [list, get, raw, create, update, remove];

async function requireSnippet(work: Work, viewer: Viewer, id: number): Promise<SnippetRow> {
  const row = await findSnippet(work.em, { viewer, project: null }, id);
  if (!row) throw notFound('Snippet');
  return row;
}

function requireOwn(viewer: Viewer, row: SnippetRow): void {
  if (row.author_id !== viewer.id && !viewer.is_admin) throw forbidden();
}
