import { rootToken } from '../support/app.ts';
import type { Place } from './repository-samples.ts';

/** The same for labels, milestones, snippets and notes. */
export const planningSamples: Record<string, (at: Place) => Promise<unknown[]>> = {
  async 'GET /projects/:id/milestones'(at) {
    const form = { title: 'A', description: 'A', due_date: '2016-12-25' };
    return [await at.body('POST', `${await within(at)}/milestones`, { as: rootToken, form })];
  },
  'POST /projects/:id/labels': async (at) => [await addLabel(at, await within(at))],
  async 'GET /projects/:id/labels'(at) {
    const path = await within(at);
    await addLabel(at, path);
    return [await at.body('GET', `${path}/labels`, { as: rootToken })];
  },
  async 'DELETE /projects/:id/labels'(at) {
    const path = await within(at);
    await addLabel(at, path);
    return [await at.body('DELETE', `${path}/labels?name=a`, { as: rootToken })];
  },
  async 'POST /projects/:id/labels/:label_id/subscription'(at) {
    const path = await within(at);
    await addLabel(at, path);
    return [await at.body('POST', `${path}/labels/a/subscription`, { as: rootToken })];
  },
  async 'GET /projects/:id/issues/:issue_id/notes'(at) {
    const project = await at.app.make.project();
    const path = `/api/v3/projects/${project.id}/issues/${(await at.app.make.issue(project)).id}/notes`;
    return [await at.body('POST', path, { as: rootToken, form: { body: 'A' } })];
  },
  async 'GET /snippets'(at) {
    const form = { title: 'A', file_name: 'a', content: 'x' };
    return [await at.body('POST', '/api/v3/snippets', { as: rootToken, form })];
  },
};

async function within({ app }: Place): Promise<string> {
  return `/api/v3/projects/${(await app.make.project()).id}`;
}

function addLabel(at: Place, path: string): Promise<unknown> {
  const form = { name: 'a', color: '#ff0000', description: 'A' };
  return at.body('POST', `${path}/labels`, { as: rootToken, form });
}
