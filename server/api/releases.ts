import { addRelease, changeRelease } from '../actions/releases.ts';
import { conflict, noSuch } from '../errors.ts';
import { onProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { pathText, text } from '../http/params.ts';
import { presentRelease, ReleaseJson } from '../present/tag.ts';
import type { Work } from '../services.ts';
import { findRef } from './ref-lookup.ts';

const path = '/projects/:id/repository/tags/*tag_name/release';
const params = { tag_name: pathText(), description: text() };

const create = endpoint({
  method: 'POST',
  path,
  summary: 'Adds a release to a tag; its description is Markdown',
  access: onProject('push_code'),
  params,
  returns: ReleaseJson,
  async run({ project, params: { tag_name, description }, work }) {
    const tag = await requireTag(work, project, tag_name);
    if (!(await addRelease(work, { projectId: project.id, tag, description }))) {
      throw conflict('Release already exists');
    }
    return presentRelease(tag, description);
  },
});

const update = endpoint({
  method: 'PUT',
  path,
  summary: 'Changes the description of a release',
  access: onProject('push_code'),
  params,
  returns: ReleaseJson,
  async run({ project, params: { tag_name, description }, work }) {
    const tag = await requireTag(work, project, tag_name);
    if (!(await changeRelease(work, { projectId: project.id, tag, description }))) {
      throw noSuch('Release does not exist');
    }
    return presentRelease(tag, description);
  },
});

export const endpoints: Endpoint[] = [create, update];

async function requireTag(work: Work, project: { id: number }, name: string): Promise<string> {
  const tag = await findRef(work, project, { kind: 'tag', name });
  if (!tag) throw noSuch('Tag does not exist');
  return tag.name;
}
