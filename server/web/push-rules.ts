import type { PushCommand } from '../git/push-commands.ts';
import { zeroSha } from '../git/ref-name.ts';
import { can } from '../policy/project.ts';
import type { GitAccess } from './git-access.ts';

/** Why a push is not let through, as its author reads it; null when it is. One bad ref refuses the whole push. */
export function refusalOf({ viewer, project }: GitAccess, commands: PushCommand[]): string | null {
  for (const { ref, oldSha } of commands) {
    const isTagChange = ref.startsWith('refs/tags/') && oldSha !== zeroSha;
    if (isTagChange && !can(viewer, project, 'change_tag')) {
      return 'You are not allowed to change existing tags on this project.';
    }
  }
  return null;
}
