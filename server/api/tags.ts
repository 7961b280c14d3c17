import { z } from 'zod';
import { createTag, removeTag } from '../actions/tags.ts';
import { notFound } from '../errors.ts';
import { listRefs } from '../git/refs.ts';
import { onProject } from '../http/access.ts';
import { PageAnswer } from '../http/answers.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { pageOf } from '../http/page-of.ts';
import { optional, pathText, revision, text } from '../http/params.ts';
import { presentTag, TagJson } from '../present/tag.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import { describeTags, type FoundRef, findShownRef } from './ref-lookup.ts';

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/tags',
  summary: 'Tags by name, the last one first',
  access: onProject('read_code'),
  returns: TagJson,
  list: true,
  async run({ project, page, work }) {
    const refs = await listRefs(repositoryOf(work, project), ['refs/tags']);
    const tags = refs.reverse().map(({ name, sha }) => ({ name: name.slice('refs/tags/'.length), sha }));
    const { items, total } = pageOf(tags, page);
    const described = await describeTags(work, project, items);
    return new PageAnswer(described.map(presentTag), total);
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/tags/*tag_name',
  summary: 'One tag',
  access: onProject('read_code'),
  params: { tag_name: pathText() },
  returns: TagJson,
  async run({ project, params, work }) {
    const tag = await findShownRef(work, project, { kind: 'tag', name: params.tag_name });
    if (!tag) throw notFound('Tag');
    return presentOne(work, project, tag);
  },
});

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/tags',
  summary: 'Makes a tag of a branch, a tag or a commit; with a message it is an annotated one',
  access: onProject('push_code'),
  params: {
    tag_name: revision(),
    ref: revision(),
    message: optional(text()),
    release_description: optional(text()),
  },
  status: 200,
  creates: true,
  returns: TagJson,
  transaction: false,
  async run({ viewer, project, params, work }) {
    const name = params.tag_name;
    const sha = await createTag(work, {
      viewer,
      projectId: project.id,
      name,
      from: params.ref,
      message: params.message,
      releaseDescription: params.release_description,
    });
    return presentOne(work, project, { name, sha });
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/repository/tags/*tag_name',
  summary: 'Removes a tag and its release',
  access: onProject('push_code'),
  params: { tag_name: pathText() },
  returns: z.strictObject({ tag_name: z.string() }),
  transaction: false,
  async run({ viewer, project, params, work }) {
    await removeTag(work, { viewer, projectId: project.id, name: params.tag_name });
    return { tag_name: params.tag_name };
  },
});

export const endpoints: Endpoint[] = [list, get, create, remove];

async function presentOne(work: Work, project: { id: number }, tag: FoundRef) {
  const [described] = await describeTags(work, project, [tag]);
  if (!described) throw new Error('a tag was not described');
  return presentTag(described);
}
