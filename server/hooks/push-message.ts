import { readRefName } from '../../shared/ref-kind.ts';
import { storable } from '../../shared/storable-text.ts';
import { type ChangedPaths, changedPaths } from '../git/changed-paths.ts';
import { GitError, ObjectTooLargeError } from '../git/errors.ts';
import { zeroSha } from '../git/ref-name.ts';
import { presentUserSummary } from '../present/user.ts';
import { repositoryOf } from '../queries/repository.ts';
import { summaryJson, type UserSummaryRow } from '../queries/user-summary.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { findHookProject, type HookProject, projectBlock, repositoryBlock } from './blocks.ts';

/** Characters of a commit's message; longer ones belong to no human. */
const messageLimit = 32_768;
const tagLimit = 1024 * 1024;

interface EventCommit {
  id: string;
  message: string;
  timestamp: string;
  author: { name: string; email: string };
}

interface PushedRow {
  project_id: number;
  author: UserSummaryRow | null;
  data: { before: string; after: string; ref: string; commits: EventCommit[]; total_commits_count: number };
}

/**
 * The message of one ref that a push moved. The system's hooks are told of no commits.
 *
 * @returns null when the project is gone.
 */
export async function pushMessage(
  work: Work,
  { eventId, isSystem }: { eventId: number; isSystem: boolean },
): Promise<Record<string, unknown> | null> {
  const row = await sqlOne<PushedRow>(work.em, find, [eventId]);
  const project = row && (await findHookProject(work, row.project_id));
  if (!row || !project) return null;
  const isTag = readRefName(row.data.ref)?.isTag === true;
  const body = await pushBody(work, { row, project, isTag });
  return isSystem ? { ...body, commits: [], total_commits_count: 0 } : body;
}

const find = `select e.project_id, ${summaryJson} as author, e.data
  from events e left join users u on u.id = e.author_id where e.id = $1`;

interface Pushed {
  row: PushedRow;
  project: HookProject;
  isTag: boolean;
}

async function pushBody(work: Work, pushed: Pushed): Promise<Record<string, unknown>> {
  const { row, project, isTag } = pushed;
  const { before, after, ref } = row.data;
  const { author } = row;
  const kind = isTag ? 'tag_push' : 'push';
  const shown = isTag ? await tagParts(work, pushed) : branchParts(row);
  return {
    object_kind: kind,
    event_name: kind,
    before,
    after,
    ref,
    checkout_sha: shown.checkoutSha,
    message: shown.message,
    user_id: author?.id ?? null,
    user_name: author?.name ?? null,
    user_email: author?.email ?? null,
    user_avatar: author && presentUserSummary(author, work.origin).avatar_url,
    project_id: project.id,
    project: projectBlock(work, project),
    commits: await presentCommits(work, project, row.data.commits),
    total_commits_count: row.data.total_commits_count,
    repository: repositoryBlock(work, project),
  };
}

interface PushParts {
  checkoutSha: string | null;
  /** Of an annotated tag. */
  message: string | null;
}

function branchParts({ data: { after } }: PushedRow): PushParts {
  return { checkoutSha: after === zeroSha ? null : after, message: null };
}

async function tagParts(work: Work, { row, project }: Pushed): Promise<PushParts> {
  const { after, commits } = row.data;
  if (after === zeroSha) return { checkoutSha: null, message: null };
  const message = await tagMessage(work, repositoryOf(work, project), after);
  return { checkoutSha: commits[0]?.id ?? null, message };
}

/** What an annotated tag says, without its signature; null for a tag that is none. */
async function tagMessage(work: Work, dir: string, sha: string): Promise<string | null> {
  const object = await work.objects.readObject(dir, sha, tagLimit).catch(tooLargeIsNothing);
  if (object?.type !== 'tag') return null;
  const text = object.data.toString('utf8');
  const start = text.indexOf('\n\n');
  const message = start === -1 ? '' : text.slice(start + 2);
  return storable(message.split(/^-----BEGIN [A-Z]+ (?:SIGNATURE|MESSAGE)-----$/m, 1)[0]?.trimEnd() ?? '');
}

function tooLargeIsNothing(error: unknown): null {
  if (error instanceof ObjectTooLargeError) return null;
  throw error;
}

async function presentCommits(work: Work, project: HookProject, commits: EventCommit[]): Promise<unknown[]> {
  const paths = await pathsOf(
    work,
    project,
    commits.map((commit) => commit.id),
  );
  return commits.map(({ id, message, timestamp, author }) => ({
    id,
    message: storable(message.slice(0, messageLimit)),
    timestamp,
    url: `${work.origin}/${project.full_path}/commit/${id}`,
    author: { name: storable(author.name), email: storable(author.email) },
    ...(paths.get(id) ?? { added: [], modified: [], removed: [] }),
  }));
}

/** Nothing, where there are too many to tell. */
async function pathsOf(work: Work, project: HookProject, shas: string[]): Promise<Map<string, ChangedPaths>> {
  try {
    return await changedPaths(repositoryOf(work, project), shas);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    work.log.warn({ err: error, project: project.id }, 'changed paths of a push not listed');
    return new Map();
  }
}
