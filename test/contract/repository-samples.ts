import { repositoryDir } from '../../server/git/repository-path.ts';
import { type CallOptions, rootToken, type TestApp } from '../support/app.ts';
import { importCommits } from '../support/import-commits.ts';
import { looseCommit } from '../support/loose-commit.ts';
import { branchedProject } from '../support/merge-requests.ts';
import { commitTree, writeBlob, writeTree } from '../support/trees.ts';

export interface Place {
  app: TestApp;
  /** Gives the body of an answer. */
  body(method: string, path: string, options: CallOptions): Promise<unknown>;
}

/**
 * For each shape of what is read from or written to a repository, by an endpoint that answers with it: answers that
 * together have every key.
 */
export const repositorySamples: Record<string, (at: Place) => Promise<unknown[]>> = {
  'GET /projects/:id/repository/commits': async (at) => [await inLargeCommit(at, 'commits')],
  'GET /projects/:id/repository/commits/*sha': async (at) => [await inLargeCommit(at, 'commits/master')],
  'GET /projects/:id/repository/commits/*sha/diff': async (at) => [
    await inLargeCommit(at, 'commits/master/diff?per_page=100'),
  ],
  'GET /projects/:id/repository/compare': async (at) => [
    await inLargeCommit(at, 'compare?from=first&to=master'),
  ],
  async 'GET /projects/:id/merge_requests/:merge_request_id/changes'({ app, body }) {
    const { project, dir } = await branchedProject(app);
    // More in all than is told of one merge request, and in one file than is told of any.
    const sizes = Array.from({ length: 400 }, (_, index) => (index === 0 ? 200_000 : 99_000));
    const files = Object.fromEntries(sizes.map((size, index) => [`file-${1000 + index}`, 'x'.repeat(size)]));
    await importCommits(dir, 'large', [{ files }]);
    const path = `/api/v3/projects/${project.id}/merge_requests`;
    const milestone = await app.make.row('milestones', { project_id: project.id, iid: 1, title: 'v1' });
    const wish = { source_branch: 'large', target_branch: 'master', title: 'A', description: 'B' };
    const json = { ...wish, labels: 'c', assignee_id: 1, milestone_id: milestone };
    const { id } = (await body('POST', path, { as: rootToken, json })) as { id: number };
    return [await body('GET', `${path}/${id}/changes`, { as: rootToken })];
  },
  'GET /projects/:id/repository/contributors': async (at) => [await inLargeCommit(at, 'contributors')],
  async 'GET /projects/:id/repository/branches'(at) {
    const path = await makeBranch(at);
    return [await at.body('GET', `${path}/branches/master`, { as: rootToken })];
  },
  async 'DELETE /projects/:id/repository/branches/*branch'(at) {
    const path = await makeBranch(at);
    return [await at.body('DELETE', `${path}/branches/master`, { as: rootToken })];
  },
  async 'GET /projects/:id/repository/tags'(at) {
    const form = { tag_name: 'v1', ref: 'master', message: 'One', release_description: 'One' };
    return [await at.body('POST', `${await makeBranch(at)}/tags`, { as: rootToken, form })];
  },
  async 'DELETE /projects/:id/repository/tags/*tag_name'(at) {
    const path = await makeBranch(at);
    await at.body('POST', `${path}/tags`, { as: rootToken, form: { tag_name: 'v1', ref: 'master' } });
    return [await at.body('DELETE', `${path}/tags/v1`, { as: rootToken })];
  },
  async 'POST /projects/:id/repository/tags/*tag_name/release'(at) {
    const path = await makeBranch(at);
    await at.body('POST', `${path}/tags`, { as: rootToken, form: { tag_name: 'v1', ref: 'master' } });
    const form = { description: 'One' };
    return [await at.body('POST', `${path}/tags/v1/release`, { as: rootToken, form })];
  },
  async 'GET /projects/:id/repository/tree'(at) {
    const path = await repositoryWithFile(at);
    return [await at.body('GET', `${path}/tree`, { as: rootToken })];
  },
  async 'GET /projects/:id/repository/files'(at) {
    const path = await repositoryWithFile(at);
    return [await at.body('GET', `${path}/files?file_path=a&ref=master`, { as: rootToken })];
  },
  async 'POST /projects/:id/repository/files'(at) {
    const { id } = await at.app.make.project();
    const form = { file_path: 'a', branch_name: 'master', content: 'a', commit_message: 'Add' };
    return [await at.body('POST', `/api/v3/projects/${id}/repository/files`, { as: rootToken, form })];
  },
  async 'POST /projects/:id/repository/commits'(at) {
    const { id } = await at.app.make.project();
    const actions = [{ action: 'create', file_path: 'a', content: 'a' }];
    const json = { branch_name: 'master', commit_message: 'Add', actions };
    return [await at.body('POST', `/api/v3/projects/${id}/repository/commits`, { as: rootToken, json })];
  },
};

/** @returns the path of the repository of a project with a branch `master`, which is not the default one. */
async function makeBranch({ app, body }: Place): Promise<string> {
  const project = await app.make.project({ columns: { default_branch: 'trunk' } });
  const path = `/api/v3/projects/${project.id}/repository`;
  const form = { branch_name: 'master', ref: await looseCommit(app, project) };
  await body('POST', `${path}/branches`, { as: rootToken, form });
  return path;
}

/** @returns the path of a repository in the interface; it has a file `a` on master. */
async function repositoryWithFile({ app }: Place): Promise<string> {
  const { make, services } = app;
  const { id } = await make.project({ columns: { default_branch: 'master' } });
  const dir = repositoryDir(services.repositoriesDir, id);
  await commitTree(dir, await writeTree(dir, [`100644 blob ${await writeBlob(dir, 'x')}\ta`]));
  return `/api/v3/projects/${id}/repository`;
}

/** Reads from a repository whose newest commit is too large to be shown as a whole. */
async function inLargeCommit({ app, body }: Place, path: string): Promise<unknown> {
  const project = await app.make.project({ columns: { default_branch: 'master' } });
  const dir = repositoryDir(app.services.repositoriesDir, project.id);
  const names = Array.from({ length: 101 }, (_, index) => [`file-${index}`, 'x'] as const);
  const files = { ...Object.fromEntries(names), a: 'x'.repeat(200_000) };
  await importCommits(dir, 'master', [{}, { files }]);
  await importCommits(dir, 'first', [{}]);
  return body('GET', `/api/v3/projects/${project.id}/repository/${path}`, { as: rootToken });
}
