import { readRefName } from '../../shared/ref-kind.ts';
import type { RefChange } from '../entities/push.ts';
import { commitsBetween } from '../git/history.ts';
import { zeroSha } from '../git/ref-name.ts';
import { wasApplied } from '../git/reflog.ts';
import { setHead } from '../git/repository.ts';
import { repositoryDir } from '../git/repository-path.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { createPipeline } from './create-pipeline.ts';

/** Refs of one push that get a pipeline; a push of a whole old repository must not start thousands. */
const pipelinesPerPush = 20;
const shownCommits = 20;
/** No push lasts so long: what has not happened by then will not happen. */
const abandonedAfterSeconds = 2 * 3600;

interface PushRow {
  id: number;
  project_id: number;
  user_id: number | null;
  user_name: string | null;
  changes: RefChange[];
  is_abandoned: boolean;
  name: string;
  full_path: string;
  description: string | null;
  default_branch: string | null;
  builds_enabled: boolean;
}

/** Who moved the refs, as it stands in their logs. */
export function pushIdentity(pushId: number): { name: string; email: string } {
  return { name: 'Hearth', email: `push-${pushId}@hearth` };
}

/**
 * Writes what follows from the refs that a push really moved: pipelines, events, the default branch. All of it
 * in one transaction, and each at most once, however often and wherever it is called.
 *
 * @param isOver git has ended; without it a ref that has not moved yet may still do so.
 * @returns false when something is left to be looked at later.
 */
export async function settlePush(
  work: Work,
  pushId: number,
  { isOver }: { isOver: boolean },
): Promise<boolean> {
  return work.orm.em.fork().transactional(async (em) => {
    const inner: Work = { ...work, em: em as Work['em'] };
    const push = await sqlOne<PushRow>(inner.em, findPush, [pushId, abandonedAfterSeconds]);
    if (!push) return true;
    const dir = repositoryDir(work.repositoriesDir, push.project_id);
    const applied: RefChange[] = [];
    for (const change of push.changes) {
      const question = { ...change, email: pushIdentity(pushId).email, isLater: isLaterThan(pushId) };
      if (await wasApplied(dir, question)) applied.push(change);
    }
    await writeConsequences(inner, { push, dir, applied });
    if (!isOver && applied.length < push.changes.length && !push.is_abandoned) return false;
    await sql(inner.em, 'delete from pushes where id = $1', [pushId]);
    await inner.queue.remove(inner.em, `settle_push:${pushId}`);
    return true;
  });
}

const findPush = `
  select s.id, s.project_id, s.user_id, u.name as user_name, s.changes, p.name, p.description, p.default_branch,
    p.builds_enabled, n.path || '/' || p.path as full_path,
    s.created_at < now() - make_interval(secs => $2) as is_abandoned
  from pushes s join projects p on p.id = s.project_id join namespaces n on n.id = p.namespace_id
    left join users u on u.id = s.user_id
  where s.id = $1 for update of s`;

function isLaterThan(pushId: number): (email: string) => boolean {
  return (email) => Number(/^push-(\d+)@hearth$/.exec(email)?.[1] ?? 0) > pushId;
}

interface Consequences {
  push: PushRow;
  dir: string;
  applied: RefChange[];
}

async function writeConsequences(work: Work, { push, dir, applied }: Consequences): Promise<void> {
  if (applied.length === 0) return;
  await chooseDefaultBranch(work, { push, dir, applied });
  let pipelines = 0;
  for (const change of applied) {
    const kind = readRefName(change.ref);
    if (!kind) continue;
    await writeEvent(work, { push, dir, change });
    if (change.newSha === zeroSha || !push.builds_enabled) continue;
    pipelines += 1;
    if (pipelines > pipelinesPerPush) {
      work.log.warn(
        { project: push.project_id, push: push.id, ref: change.ref },
        'no pipeline: too many refs in one push',
      );
      continue;
    }
    await startPipeline(work, { push, dir, change });
  }
  await sql(work.em, 'update projects set last_activity_at = now() where id = $1', [push.project_id]);
}

interface OneChange {
  push: PushRow;
  dir: string;
  change: RefChange;
}

async function startPipeline(work: Work, { push, dir, change }: OneChange): Promise<void> {
  const kind = readRefName(change.ref);
  const commit = await work.objects.readCommit(dir, change.newSha);
  if (!kind || !commit) return;
  await createPipeline(work, {
    project: { id: push.project_id, fullPath: push.full_path },
    ref: kind.name,
    isTag: kind.isTag,
    sha: commit.sha,
    beforeSha: change.oldSha,
    userId: push.user_id,
    pushId: push.id,
  });
}

async function writeEvent(work: Work, { push, dir, change }: OneChange): Promise<void> {
  const data = JSON.stringify(await pushData(work, { push, dir, change }));
  const action =
    change.newSha === zeroSha ? 'deleted' : change.oldSha === zeroSha ? 'pushed new' : 'pushed to';
  await sql(
    work.em,
    `insert into events (project_id, author_id, action, push_id, ref, data) values ($1, $2, $3, $4, $5, $6)
     on conflict on constraint events_push_id_ref_key do nothing`,
    [push.project_id, push.user_id, action, push.id, change.ref, data],
  );
}

/** Interface: "Project event", data of a push. */
async function pushData(work: Work, { push, dir, change }: OneChange): Promise<Record<string, unknown>> {
  const url = `${work.origin}/${push.full_path}`;
  const isBranch = readRefName(change.ref)?.isTag === false;
  const { total, commits } =
    isBranch && change.newSha !== zeroSha
      ? await commitsBetween(work.objects, { dir, ...change, limit: shownCommits })
      : { total: 0, commits: [] };
  return {
    before: change.oldSha,
    after: change.newSha,
    ref: change.ref,
    user_id: push.user_id,
    user_name: push.user_name,
    repository: { name: push.name, url: `${url}.git`, description: push.description, homepage: url },
    commits: commits.reverse().map((commit) => ({
      id: commit.sha,
      message: storable(commit.message),
      timestamp: commit.committedDate,
      url: `${url}/commit/${commit.sha}`,
      author: { name: storable(commit.authorName), email: storable(commit.authorEmail) },
    })),
    total_commits_count: total,
  };
}

function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}

/** The first branch that is pushed becomes the default one. */
async function chooseDefaultBranch(work: Work, { push, dir, applied }: Consequences): Promise<void> {
  if (push.default_branch !== null) return;
  const branches = applied
    .filter((change) => change.newSha !== zeroSha)
    .map((change) => readRefName(change.ref))
    .filter((kind) => kind !== null && !kind.isTag)
    .map((kind) => kind?.name ?? '');
  const branch = branches.find((name) => name === 'master' || name === 'main') ?? branches[0];
  if (branch === undefined) return;
  await setHead(dir, branch);
  await sql(work.em, 'update projects set default_branch = $2 where id = $1 and default_branch is null', [
    push.project_id,
    branch,
  ]);
}
