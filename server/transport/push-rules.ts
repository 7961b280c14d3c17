import { readRefName } from '../../shared/ref-kind.ts';
import { mostGuardedMoves } from '../git/guarded-moves.ts';
import type { PushCommand } from '../git/push-commands.ts';
import { checkRefName, isUsableRef, longestRef, zeroSha } from '../git/ref-name.ts';
import { canPushTo, type Protection } from '../policy/branch-protection.ts';
import { can } from '../policy/project.ts';
import { protectionsOf } from '../queries/protected-branches.ts';
import type { Work } from '../services.ts';
import type { GitAccess } from './git-access.ts';

export interface PushRules {
  /** Why the push is not let through, as its author reads it; null when it is. */
  refusal: string | null;
  /** Those commands that git must refuse where they are forced. */
  guarded: PushCommand[];
}

/** By the names of branches. */
export type Protections = ReadonlyMap<string, Protection>;

/** What holds for a push, in one statement; in none where it is about no branch. */
export async function pushRulesFor(
  work: Work,
  access: GitAccess,
  commands: readonly PushCommand[],
): Promise<PushRules> {
  const names = commands.map(branchOf).filter((name) => name !== null);
  const protections: Protections =
    names.length === 0 ? new Map() : await protectionsOf(work.em, access.project.id, names);
  const guarded = commands.filter((command) => ruleOf(command, protections) !== null);
  return { refusal: refusalOf(access, commands, protections), guarded };
}

/** Why a push is not let through, as its author reads it; null when it is. One bad ref refuses the whole push. */
export function refusalOf(
  access: GitAccess,
  commands: readonly PushCommand[],
  protections: Protections,
): string | null {
  let moved = 0;
  for (const command of commands) {
    const refusal = refusalOfRef(command) ?? refusalOfRight(access, command, protections);
    if (refusal !== null) return refusal;
    if (ruleOf(command, protections) !== null) moved += 1;
  }
  return moved > mostGuardedMoves
    ? `One push cannot move more than ${mostGuardedMoves} protected branches: push them in parts.`
    : null;
}

/** Those that the server keeps for itself or passes over, and names that git could take for another ref's. */
const reserved = /^refs\/(?:keep-around|merge-requests|replace|refs|remotes\/refs)\//;

/** Git itself judges the rest: names that it does not accept, and refs that are hidden. */
function refusalOfRef({ ref, newSha }: PushCommand): string | null {
  if (reserved.test(ref)) {
    return 'The server keeps refs of this name for itself: push branches (refs/heads/) and tags (refs/tags/).';
  }
  const isBad = newSha !== zeroSha && readRefName(ref) !== null && checkRefName(ref) && !isUsableRef(ref);
  return isBad
    ? `The name of a branch or tag cannot start with a dash or refs/, be HEAD, or be longer than ${longestRef} characters.`
    : null;
}

function refusalOfRight(
  { viewer, project }: GitAccess,
  command: PushCommand,
  protections: Protections,
): string | null {
  const isTagChange = command.ref.startsWith('refs/tags/') && command.oldSha !== zeroSha;
  if (isTagChange && !can(viewer, project, 'change_tag')) {
    return 'You are not allowed to change existing tags on this project.';
  }
  const rule = ruleOf(command, protections);
  if (rule === null) return isEndOfDefault(command, project) ? defaultStays : null;
  if (command.newSha === zeroSha) {
    return 'You are not allowed to delete protected branches on this project. A master can unprotect the branch first.';
  }
  return canPushTo(viewer, project, rule)
    ? null
    : 'You are not allowed to push code to protected branches on this project. Push to another branch and open a merge request, or ask a master.';
}

const defaultStays =
  'The default branch of a project cannot be deleted. Make another branch the default one first, or push to this one.';

/** Git would refuse it too, with advice for whoever runs the server. */
function isEndOfDefault(command: PushCommand, { default_branch }: GitAccess['project']): boolean {
  return command.newSha === zeroSha && default_branch !== null && branchOf(command) === default_branch;
}

function ruleOf(command: PushCommand, protections: Protections): Protection | null {
  const branch = branchOf(command);
  return branch === null ? null : (protections.get(branch) ?? null);
}

function branchOf({ ref }: PushCommand): string | null {
  const kind = readRefName(ref);
  return kind && !kind.isTag ? kind.name : null;
}
