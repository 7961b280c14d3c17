import { isDiskFull } from '../disk-full.ts';
import { AppError, badRequest, conflict, notFound } from '../errors.ts';
import { type Commit, parseCommit } from '../git/commit.ts';
import { newCommit } from '../git/commit-object.ts';
import { GitError, RefConflictError } from '../git/errors.ts';
import { isUsableRef, zeroSha } from '../git/ref-name.ts';
import { hasNoBranch } from '../git/repository.ts';
import { writeObjects } from '../git/write-objects.ts';
import { canPushTo } from '../policy/branch-protection.ts';
import { editRules } from '../queries/edit-rules.ts';
import type { ProjectScope } from '../queries/project-scope.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { changeTree, type FileAction } from './change-tree.ts';
import { inTurn } from './in-turn.ts';
import { moveRef } from './move-ref.ts';

export interface Edit {
  project: ProjectScope;
  viewer: Viewer;
  /** By its short name. */
  branch: string;
  message: string;
  /** The viewer where nothing else is said. */
  author: { name: string | undefined; email: string | undefined };
  actions: readonly FileAction[];
}

const waitMs = 30_000;

/**
 * Commits changes of files to a branch, all or none, with all that follows from a push. In an empty repository the
 * branch is made.
 *
 * @param work outside a transaction.
 * @throws AppError 400 when the changes cannot be made, the branch is not there, or takes no pushes from the viewer;
 * also when it moved meanwhile, so that the viewer has a look at what came in between.
 */
export function editFiles(work: Work, edit: Edit): Promise<Commit> {
  const dir = repositoryOf(work, edit.project);
  return inTurn(`${dir} ${edit.branch}`, waitMs, async () => {
    const now = await checkRules(work, edit);
    try {
      return await commitEdit(work, dir, { edit, now });
    } catch (error) {
      throw meaningOf(work, edit, error);
    }
  });
}

/** @returns the database's time, in seconds. */
async function checkRules(work: Work, { project, viewer, branch }: Edit): Promise<number> {
  const rules = await editRules(work.em, project.id, branch);
  if (rules === null) throw notFound('Project');
  // What it would change is replaced when the import ends.
  if (rules.isImporting) throw conflict('The project is being imported');
  if (!canPushTo(viewer, project, rules.protection)) {
    throw badRequest('You are not allowed to push into this branch');
  }
  return rules.now;
}

async function commitEdit(
  work: Work,
  dir: string,
  { edit, now }: { edit: Edit; now: number },
): Promise<Commit> {
  const { project, viewer, branch, author, message, actions } = edit;
  const head = await readHead(work, dir, branch);
  const { treeId, objects } = await changeTree({ objects: work.objects, dir, head }, actions);
  const commit = newCommit({
    treeId,
    parentIds: head ? [head.sha] : [],
    author: { name: author.name ?? viewer.name, email: author.email ?? viewer.email },
    committer: viewer,
    seconds: now,
    message,
  });
  await writeObjects(dir, [...objects, commit]);
  await moveRef(work, {
    projectId: project.id,
    userId: viewer.id,
    ref: `refs/heads/${branch}`,
    oldSha: head?.sha ?? zeroSha,
    newSha: commit.sha,
  });
  return parseCommit(commit.sha, commit.data);
}

/** @returns null for the first branch of a repository. */
async function readHead(work: Work, dir: string, branch: string): Promise<Commit | null> {
  const ref = `refs/heads/${branch}`;
  const isName = isUsableRef(ref);
  const head = isName ? await work.objects.readCommit(dir, ref) : null;
  if (head !== null) return head;
  if (!(await hasNoBranch(dir)))
    throw badRequest('You can only create or edit files when you are on a branch');
  if (!isName) throw badRequest('Branch name is invalid');
  return null;
}

/** What an edit that git refused is told. */
function meaningOf(work: Work, { project }: Edit, error: unknown): unknown {
  if (!(error instanceof GitError) || isDiskFull(error)) return error;
  if (error instanceof RefConflictError)
    return refused('Commit was rejected because branch received new push', error);
  work.log.warn({ err: error, project: project.id }, 'an edit was refused by git');
  return refused('Something went wrong. Your changes were not committed', error);
}

function refused(message: string, cause: GitError): AppError {
  return new AppError({ status: 400, message, cause });
}
