import { readRefName } from '../../shared/ref-kind.ts';
import { sshUrl } from '../../shared/ssh-url.ts';
import { storable } from '../../shared/storable-text.ts';
import type { RefChange } from '../entities/push.ts';
import { GitError } from '../git/errors.ts';
import { type Brought, listBetween, readNewest } from '../git/history.ts';
import { zeroSha } from '../git/ref-name.ts';
import { tellOfPushes, wakeHooks } from '../queries/hook-tasks.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { type EarlyList, shownCommits, startOf } from './list-early.ts';
import type { PushRow } from './settle-push.ts';

interface MovedRef {
  push: PushRow;
  dir: string;
  change: RefChange;
  /** Commit of the default branch; null without one. */
  trunk: string | null;
  early?: EarlyList | undefined;
}

/**
 * Writes the event of one ref that a push moved, and lets hooks know of it, once however often it is called.
 *
 * @returns whether it brought commits to a branch that may name issues or merge requests.
 */
export async function writePushEvent(work: Work, moved: MovedRef): Promise<boolean> {
  const { push, change } = moved;
  const isTag = readRefName(change.ref)?.isTag === true;
  const data = await pushData(work, moved);
  await sql(work.em, isTag ? insert.tag : insert.branch, [
    push.project_id,
    push.user_id,
    actionOf(change),
    push.id,
    change.ref,
    JSON.stringify(data),
  ]);
  return !isTag && (data.total_commits_count > data.commits.length || data.commits.some(seemsToName));
}

function seemsToName({ message }: { message: string }): boolean {
  return /[#!]\d|\/issues\/\d/.test(message);
}

const insert = { tag: statement({ isTag: true }), branch: statement({ isTag: false }) };

function statement(kind: { isTag: boolean }): string {
  return `
  with written as (
    insert into events (project_id, author_id, action, push_id, ref, data) values ($1, $2, $3, $4, $5, $6)
    on conflict on constraint events_push_id_ref_key do nothing returning id, project_id
  ), ${tellOfPushes('written', kind)}
  select ${wakeHooks} as woken`;
}

function actionOf({ oldSha, newSha }: RefChange): string {
  if (newSha === zeroSha) return 'deleted';
  return oldSha === zeroSha ? 'pushed new' : 'pushed to';
}

/** Interface: "Project event", data of a push. */
async function pushData(work: Work, moved: MovedRef) {
  const { push, change } = moved;
  const url = `${work.origin}/${push.full_path}`;
  const { total, commits } = await broughtCommits(work, moved);
  const repositoryUrl = sshUrl(push.full_path, work);
  return {
    before: change.oldSha,
    after: change.newSha,
    ref: change.ref,
    user_id: push.user_id,
    user_name: push.user_name,
    repository: { name: push.name, url: repositoryUrl, description: push.description, homepage: url },
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

/** What a push added to a branch, or the commit that a tag stands for, if it stands for one. */
async function broughtCommits(work: Work, moved: MovedRef): Promise<Brought> {
  const { push, change } = moved;
  const nothing = { total: 0, commits: [] };
  const ref = readRefName(change.ref);
  if (!ref || change.newSha === zeroSha) return nothing;
  try {
    return await (ref.isTag ? taggedCommit(work, moved) : branchCommits(work, moved));
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    // A history that cannot be walked in time must not keep the push from its pipeline.
    work.log.warn({ err: error, project: push.project_id, push: push.id }, 'commits of a push not listed');
    return nothing;
  }
}

async function taggedCommit({ objects }: Work, { dir, change }: MovedRef): Promise<Brought> {
  const commit = await objects.readCommit(dir, change.newSha);
  return commit ? { total: 1, commits: [commit] } : { total: 0, commits: [] };
}

async function branchCommits(
  { objects }: Work,
  { push, dir, change, trunk, early }: MovedRef,
): Promise<Brought> {
  const oldSha = startOf(change, { defaultBranch: push.default_branch, trunk });
  const { newSha } = change;
  const known = await early;
  const isKnown = known?.oldSha === oldSha && known.newSha === newSha;
  const list = isKnown ? known : await listBetween({ dir, oldSha, newSha, limit: shownCommits });
  return readNewest(objects, dir, list);
}
