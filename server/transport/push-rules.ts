import { readRefName } from '../../shared/ref-kind.ts';
import type { PushCommand } from '../git/push-commands.ts';
import { checkRefName, zeroSha } from '../git/ref-name.ts';
import { can } from '../policy/project.ts';
import type { GitAccess } from './git-access.ts';

/** Characters of a full ref name; what builds and events keep has to fit into an index. */
const longestRef = 255;

/** Why a push is not let through, as its author reads it; null when it is. One bad ref refuses the whole push. */
export function refusalOf({ viewer, project }: GitAccess, commands: PushCommand[]): string | null {
  for (const { ref, oldSha, newSha } of commands) {
    const isTagChange = ref.startsWith('refs/tags/') && oldSha !== zeroSha;
    if (isTagChange && !can(viewer, project, 'change_tag')) {
      return 'You are not allowed to change existing tags on this project.';
    }
    if (newSha !== zeroSha && !isUsableName(ref)) {
      return `The name of a branch or tag cannot start with a dash, be HEAD, or be longer than ${longestRef} characters.`;
    }
  }
  return null;
}

/** Git itself judges the rest: names that it does not accept, and refs that are hidden. */
function isUsableName(ref: string): boolean {
  const kind = readRefName(ref);
  if (!kind || !checkRefName(ref)) return true;
  return ref.length <= longestRef && checkRefName(kind.name, 'short');
}
