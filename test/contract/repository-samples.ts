import { repositoryDir } from '../../server/git/repository-path.ts';
import { type CallOptions, rootToken, type TestApp } from '../support/app.ts';
import { importCommits } from '../support/import-commits.ts';
import { looseCommit } from '../support/loose-commit.ts';
import { commitTree, writeBlob, writeTree } from '../support/trees.ts';

type Call = (method: string, path: string, options: CallOptions) => Promise<unknown>;

/**
 * For each shape of what is read from or written to a repository, by an endpoint that answers with it: answers that
 * together have every key.
 *
 * @param body gives the body of an answer.
 */
export function repositorySamples(
  holder: { app: TestApp },
  body: Call,
): Record<string, () => Promise<unknown[]>> {
  /** @returns the path of the repository of a project with a branch `master`, which is not the default one. */
  async function makeBranch(): Promise<string> {
    const project = await holder.app.make.project({ columns: { default_branch: 'trunk' } });
    const path = `/api/v3/projects/${project.id}/repository`;
    const form = { branch_name: 'master', ref: await looseCommit(holder.app, project) };
    await body('POST', `${path}/branches`, { as: rootToken, form });
    return path;
  }

  /** @returns the path of a repository in the interface; it has a file `a` on master. */
  async function repositoryWithFile(): Promise<string> {
    const { make, services } = holder.app;
    const { id } = await make.project({ columns: { default_branch: 'master' } });
    const dir = repositoryDir(services.repositoriesDir, id);
    await commitTree(dir, await writeTree(dir, [`100644 blob ${await writeBlob(dir, 'x')}\ta`]));
    return `/api/v3/projects/${id}/repository`;
  }

  /** Reads from a repository whose newest commit is too large to be shown as a whole. */
  async function inLargeCommit(path: string): Promise<unknown> {
    const { app } = holder;
    const project = await app.make.project({ columns: { default_branch: 'master' } });
    const dir = repositoryDir(app.services.repositoriesDir, project.id);
    const names = Array.from({ length: 101 }, (_, index) => [`file-${index}`, 'x'] as const);
    const files = { ...Object.fromEntries(names), a: 'x'.repeat(200_000) };
    await importCommits(dir, 'master', [{}, { files }]);
    await importCommits(dir, 'first', [{}]);
    return body('GET', `/api/v3/projects/${project.id}/repository/${path}`, { as: rootToken });
  }

  return {
    'GET /projects/:id/repository/commits': async () => [await inLargeCommit('commits')],
    'GET /projects/:id/repository/commits/*sha': async () => [await inLargeCommit('commits/master')],
    'GET /projects/:id/repository/commits/*sha/diff': async () => [
      await inLargeCommit('commits/master/diff?per_page=100'),
    ],
    'GET /projects/:id/repository/compare': async () => [await inLargeCommit('compare?from=first&to=master')],
    'GET /projects/:id/repository/contributors': async () => [await inLargeCommit('contributors')],
    async 'GET /projects/:id/repository/branches'() {
      const path = await makeBranch();
      return [await body('GET', `${path}/branches/master`, { as: rootToken })];
    },
    async 'DELETE /projects/:id/repository/branches/*branch'() {
      const path = await makeBranch();
      return [await body('DELETE', `${path}/branches/master`, { as: rootToken })];
    },
    async 'GET /projects/:id/repository/tags'() {
      const form = { tag_name: 'v1', ref: 'master', message: 'One', release_description: 'One' };
      return [await body('POST', `${await makeBranch()}/tags`, { as: rootToken, form })];
    },
    async 'DELETE /projects/:id/repository/tags/*tag_name'() {
      const path = await makeBranch();
      await body('POST', `${path}/tags`, { as: rootToken, form: { tag_name: 'v1', ref: 'master' } });
      return [await body('DELETE', `${path}/tags/v1`, { as: rootToken })];
    },
    async 'POST /projects/:id/repository/tags/*tag_name/release'() {
      const path = await makeBranch();
      await body('POST', `${path}/tags`, { as: rootToken, form: { tag_name: 'v1', ref: 'master' } });
      const form = { description: 'One' };
      return [await body('POST', `${path}/tags/v1/release`, { as: rootToken, form })];
    },
    async 'GET /projects/:id/repository/tree'() {
      const path = await repositoryWithFile();
      return [await body('GET', `${path}/tree`, { as: rootToken })];
    },
    async 'GET /projects/:id/repository/files'() {
      const path = await repositoryWithFile();
      return [await body('GET', `${path}/files?file_path=a&ref=master`, { as: rootToken })];
    },
    async 'POST /projects/:id/repository/files'() {
      const { id } = await holder.app.make.project();
      const form = { file_path: 'a', branch_name: 'master', content: 'a', commit_message: 'Add' };
      return [await body('POST', `/api/v3/projects/${id}/repository/files`, { as: rootToken, form })];
    },
    async 'POST /projects/:id/repository/commits'() {
      const { id } = await holder.app.make.project();
      const actions = [{ action: 'create', file_path: 'a', content: 'a' }];
      const json = { branch_name: 'master', commit_message: 'Add', actions };
      return [await body('POST', `/api/v3/projects/${id}/repository/commits`, { as: rootToken, json })];
    },
  };
}
