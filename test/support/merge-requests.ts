import { repositoryDir } from '../../server/git/repository-path.ts';
import { git } from '../git/real-git.ts';
import type { Answer, TestApp } from './app.ts';
import { importCommits } from './import-commits.ts';
import type { MadeProject, MadeUser } from './make.ts';

/** As much of the answer as tests look at. */
export interface ShownMergeRequest {
  id: number;
  iid: number;
  project_id: number;
  source_project_id: number | null;
  target_project_id: number;
  source_branch: string;
  target_branch: string;
  title: string;
  description: string | null;
  state: string;
  labels: string[];
  author: { id: number };
  assignee: { id: number } | null;
  milestone: { id: number } | null;
  work_in_progress: boolean;
  merge_status: string;
  subscribed: boolean;
  user_notes_count: number;
  created_at: string;
  updated_at: string;
}

/** A project whose `master` and `side` went different ways after their first commit. */
export interface Branched {
  project: MadeProject;
  dir: string;
  first: string;
  master: string;
  side: string;
}

export async function branchedProject(
  app: TestApp,
  given: Parameters<TestApp['make']['project']>[0] = {},
): Promise<Branched> {
  const project = await app.make.project({
    ...given,
    columns: { default_branch: 'master', ...given.columns },
  });
  const dir = repositoryDir(app.services.repositoriesDir, project.id);
  const [first = '', master = '', side = ''] = await importCommits(dir, 'side', [
    { message: 'First\n', files: { a: '1\n' } },
    { message: 'On master\n', files: { m: '1\n' }, parents: [0] },
    { message: 'On side\n', files: { s: '1\n' }, parents: [0] },
  ]);
  await git(dir, 'branch', '--quiet', 'master', master);
  return { project, dir, first, master, side };
}

/** Another branch of a project, at a commit. */
export async function addBranch(dir: string, name: string, sha: string): Promise<void> {
  await git(dir, 'branch', '--quiet', name, sha);
}

/** Asks for `side` to be merged into `master` unless told; the body is an error where that is refused. */
export function ask(
  app: TestApp,
  project: { id: number },
  as: MadeUser,
  json: Record<string, unknown> = {},
): Promise<Answer<ShownMergeRequest>> {
  const usual = { source_branch: 'side', target_branch: 'master', title: 'Merge me' };
  return app.call('POST', `/api/v3/projects/${project.id}/merge_requests`, {
    as: as.token,
    json: { ...usual, ...json },
  });
}

/** A copy of a project for a user, with a commit of its own on its branch `mine`. */
export async function forkWithCommit(
  app: TestApp,
  source: { id: number },
  owner: MadeUser,
): Promise<{ id: number; dir: string; sha: string }> {
  const fork = await app.call<{ id: number }>('POST', `/api/v3/projects/fork/${source.id}`, {
    as: owner.token,
  });
  const { id } = fork.body;
  const dir = repositoryDir(app.services.repositoriesDir, id);
  await git(dir, 'branch', '--quiet', 'mine', 'master');
  const json = { file_path: 'f', branch_name: 'mine', content: 'of the fork', commit_message: 'In the fork' };
  await app.call('POST', `/api/v3/projects/${id}/repository/files`, { as: owner.token, json });
  return { id, dir, sha: await git(dir, 'rev-parse', 'mine') };
}
