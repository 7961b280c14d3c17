import { moveRef } from '../../server/actions/move-ref.ts';
import { zeroSha } from '../../server/git/ref-name.ts';
import { readRef } from '../../server/git/refs.ts';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { type Answer, type CallOptions, type TestApp, type TestAppOptions, withApp } from './app.ts';
import { gitWithInput, tryGit } from './git.ts';
import { importInput } from './import-input.ts';
import type { MadeProject, MadeUser } from './make.ts';

export type Files = Record<string, string | null>;

export interface MergeScene {
  project: MadeProject;
  dir: string;
  /** Id of the merge request from `side` to `master`. */
  id: number;
  iid: number;
  /** The commits of both branches as they were made: `side` goes on from `base`, and so does `master`. */
  base: string;
  master: string;
  side: string;
}

export interface RequestState {
  state: string;
  merge_status: string;
  head_sha: string | null;
  base_sha: string | null;
  merge_commit_sha: string | null;
  merge_user_id: number | null;
  merge_when_build_succeeds: boolean;
}

interface Holder {
  app: TestApp;
}

let count = 0;

/** Merge requests with real branches. Call at the top of the file. */
export function withMerging(options: TestAppOptions = {}) {
  return mergingOn(withApp({ poolSize: 4, ...options }));
}

/** The same on an application that the file has started otherwise, with as many connections. */
export function mergingOn(holder: Holder) {
  const branches = branchTools(holder);
  return { holder, ...branches, ...requestMakers(holder, branches), ...requestReaders(holder) };
}

function branchTools(holder: Holder) {
  function dirOf({ id }: { id: number }): string {
    return repositoryDir(holder.app.services.repositoriesDir, id);
  }

  /** Runs git in a project's repository. */
  async function git(project: { id: number }, ...args: string[]): Promise<string> {
    const ran = await tryGit(dirOf(project), args);
    if (ran.code !== 0) throw new Error(`git ${args.join(' ')}: ${ran.stderr}`);
    return ran.stdout;
  }

  /** A commit that goes on from others, the files from the first one; no branch leads to it. */
  async function commit(project: { id: number }, parents: string[], files: Files): Promise<string> {
    count += 1;
    const branch = `made-${process.pid}-${count}`;
    const begun = importInput(branch, [{ message: `Change ${count}`, files, parents: [] }]).toString();
    const from = parents.map((sha, place) => `${place === 0 ? 'from' : 'merge'} ${sha}\n`).join('');
    const input = begun
      .replaceAll('refs/heads/', 'refs/made/')
      .replace(/(Change \d+\n)/, (line) => line + from);
    const sha = await gitWithInput(dirOf(project), ['fast-import', '--quiet', '--force'], input);
    return sha.toString('latin1').trim();
  }

  /** Moves a branch as a push does, with all that follows; null removes it. */
  async function push(
    project: { id: number; owner: MadeUser },
    branch: string,
    sha: string | null,
    by: MadeUser = project.owner,
  ): Promise<void> {
    const ref = `refs/heads/${branch}`;
    const oldSha = (await readRef(dirOf(project), ref)) ?? zeroSha;
    const move = { projectId: project.id, userId: by.id, ref, oldSha, newSha: sha ?? zeroSha };
    await moveRef(holder.app.work, move);
  }

  return { dirOf, git, commit, push };
}

function requestMakers(holder: Holder, { dirOf, commit, push }: ReturnType<typeof branchTools>) {
  /** Writes a merge request past the API. @returns its id and number. */
  async function request(
    target: MadeProject,
    given: { source?: { id: number }; from?: string; to?: string; columns?: Record<string, unknown> } = {},
  ): Promise<{ id: number; iid: number }> {
    const { source = target, from = 'side', to = 'master' } = given;
    const head = await readRef(dirOf(source), `refs/heads/${from}`);
    const isHere = head !== null && source.id === target.id;
    const base = isHere ? await tryGit(dirOf(target), ['merge-base', head, `refs/heads/${to}`]) : null;
    const columns = {
      source_project_id: source.id,
      source_branch: from,
      target_branch: to,
      title: 'Do something',
      description: 'With more words',
      head_sha: head,
      base_sha: base?.stdout || null,
      ...given.columns,
    };
    return holder.app.make.mergeRequest(target, { columns });
  }

  /** A project whose master and side have a commit each on top of a common one, and a merge request between them. */
  async function scene(
    given: { master?: Files; side?: Files; columns?: Record<string, unknown> } = {},
  ): Promise<MergeScene> {
    const project = await holder.app.make.project();
    const base = await commit(project, [], { README: 'one\ntwo\nthree\n' });
    const master = await commit(project, [base], given.master ?? { 'm.txt': 'of master\n' });
    const side = await commit(project, [base], given.side ?? { 's.txt': 'of side\n' });
    await push(project, 'master', master);
    await push(project, 'side', side);
    const made = await request(project, given.columns ? { columns: given.columns } : {});
    return { project, dir: dirOf(project), ...made, base, master, side };
  }

  return { request, scene };
}

function requestReaders(holder: Holder) {
  async function stateOf(id: number): Promise<RequestState> {
    const [row] = await holder.app.rows<RequestState>(
      `select state, merge_status, head_sha, base_sha, merge_commit_sha, merge_user_id, merge_when_build_succeeds
       from merge_requests where id = $1`,
      [id],
    );
    if (!row) throw new Error('no such merge request');
    return row;
  }

  /** What the system has noted, with its author's name: `name: body`. */
  async function notesOf(id: number): Promise<string[]> {
    const rows = await holder.app.rows<{ text: string }>(
      `select u.username || ': ' || n.body as text from notes n join users u on u.id = n.author_id
       where n.noteable_type = 'MergeRequest' and n.noteable_id = $1 and n.system order by n.id`,
      [id],
    );
    return rows.map(({ text }) => text);
  }

  /** Actions of the events about it. */
  async function eventsOf(id: number): Promise<string[]> {
    const rows = await holder.app.rows<{ action: string }>(
      `select action from events where target_type = 'MergeRequest' and target_id = $1 order by id`,
      [id],
    );
    return rows.map(({ action }) => action);
  }

  /** Calls an endpoint of a merge request, as the owner of the project unless told. */
  function call<T = Record<string, unknown>>(
    at: { project: MadeProject; id: number },
    path: string,
    { as, method = 'PUT', ...options }: CallOptions & { method?: string } = {},
  ): Promise<Answer<T>> {
    const url = `/api/v3/projects/${at.project.id}/merge_requests/${at.id}${path}`;
    return holder.app.call<T>(method, url, { as: as ?? at.project.owner.token, ...options });
  }

  async function outstanding({ id }: { id: number }): Promise<number> {
    return (await holder.app.rows('select 1 from pushes where project_id = $1', [id])).length;
  }

  return { stateOf, notesOf, eventsOf, call, outstanding };
}
