import { createSnippet, removeSnippet, updateSnippet } from '../actions/snippets.ts';
import { forbidden, notFound } from '../errors.ts';
import { onProject } from '../http/access.ts';
import { bytes } from '../http/answers.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { integer, optional, pathId, text } from '../http/params.ts';
import { can } from '../policy/project.ts';
import { presentSnippet, SnippetJson } from '../present/snippet.ts';
import type { ProjectScope } from '../queries/project-scope.ts';
import { findSnippet, listProjectSnippets, readSnippet, type SnippetRow } from '../queries/snippets.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { sendSnippet, snippetContent } from './snippet-content.ts';

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/snippets',
  summary: 'Snippets of the project that the caller may see, newest first',
  access: onProject('read_snippet'),
  returns: SnippetJson,
  list: true,
  async run({ viewer, project, page, work }) {
    const rows = await paginate<SnippetRow>(work.em, listProjectSnippets({ viewer, project }), page);
    return rows.map((row) => presentSnippet(row, work.origin));
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/snippets/:snippet_id',
  summary: 'One snippet, without its content',
  access: onProject('read_snippet'),
  params: { snippet_id: pathId() },
  returns: SnippetJson,
  async run({ viewer, project, params, work }) {
    return presentSnippet(await requireSnippet(work, { viewer, project }, params.snippet_id), work.origin);
  },
});

const raw = endpoint({
  method: 'GET',
  path: '/projects/:id/snippets/:snippet_id/raw',
  summary: 'The content of a snippet',
  access: onProject('read_snippet'),
  params: { snippet_id: pathId() },
  returns: bytes('text/plain'),
  async run({ viewer, project, params, work }) {
    const found = await readSnippet(work.em, { viewer, project }, params.snippet_id);
    if (!found) throw notFound();
    return sendSnippet(found);
  },
});

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/snippets',
  summary: 'Makes a snippet in the project',
  access: onProject('create_snippet'),
  params: { title: text(), file_name: text(), code: snippetContent(), visibility_level: integer() },
  returns: SnippetJson,
  async run({ viewer, project, params, work }) {
    const id = await createSnippet(
      work,
      { viewer, projectId: project.id },
      {
        title: params.title,
        fileName: params.file_name,
        content: params.code,
        visibilityLevel: params.visibility_level,
      },
    );
    return presentSnippet(await requireSnippet(work, { viewer, project }, id), work.origin);
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/snippets/:snippet_id',
  summary: 'Changes a snippet, which its author and masters may',
  access: onProject('read_snippet'),
  params: {
    snippet_id: pathId(),
    title: optional(text()),
    file_name: optional(text()),
    code: optional(snippetContent()),
    visibility_level: optional(integer()),
  },
  returns: SnippetJson,
  async run({ viewer, project, params, work }) {
    const view = { viewer, project };
    const row = await requireSnippet(work, view, params.snippet_id);
    requireOwn(view, row);
    const change = {
      title: params.title,
      fileName: params.file_name,
      content: params.code,
      visibilityLevel: params.visibility_level,
    };
    await updateSnippet(work, { viewer, row }, change);
    return presentSnippet(await requireSnippet(work, view, row.id), work.origin);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/snippets/:snippet_id',
  summary: 'Removes a snippet, which its author and masters may; null when there is none',
  access: onProject('read_snippet'),
  params: { snippet_id: pathId() },
  returns: SnippetJson.nullable(),
  async run({ viewer, project, params, work }) {
    const view = { viewer, project };
    const row = await findSnippet(work.em, view, params.snippet_id);
    if (!row) return null;
    requireOwn(view, row);
    await removeSnippet(work, row.id);
    return presentSnippet(row, work.origin);
  },
});

export const endpoints: Endpoint[] = [list, get, raw, create, update, remove];

interface View {
  viewer: Viewer;
  project: ProjectScope;
}

async function requireSnippet(work: Work, view: View, id: number): Promise<SnippetRow> {
  const row = await findSnippet(work.em, view, id);
  if (!row) throw notFound();
  return row;
}

function requireOwn({ viewer, project }: View, row: SnippetRow): void {
  if (row.author_id !== viewer.id && !can(viewer, project, 'admin_snippet')) throw forbidden();
}
