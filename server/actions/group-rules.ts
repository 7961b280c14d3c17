import { visibilityWord } from '../../shared/access-level.ts';
import { invalid } from '../errors.ts';
import { groupFaults } from '../policy/group-names.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

interface GroupWords {
  /** Of the group itself, which is in nobody's way; 0 for a new one. */
  id: number;
  name: string;
  path: string;
  description: string;
}

/** @throws AppError 400 naming every fault of what the group is called, or what others are called like. */
export async function requireGroupWords({ em }: Pick<Work, 'em'>, words: GroupWords): Promise<void> {
  const faults = groupFaults(words);
  if (Object.keys(faults).length > 0) throw invalid(faults);
  const taken = await sqlOne<{ name: boolean | null; path: boolean | null }>(
    em,
    `select bool_or(n.kind = 'group' and n.name = $2) as name, bool_or(lower(n.path) = lower($3)) as path
     from namespaces n where n.id <> $1 and not n.pending_delete
       and (lower(n.path) = lower($3) or n.kind = 'group' and n.name = $2)`,
    [words.id, words.name, words.path],
  );
  const found = (['name', 'path'] as const).filter((key) => taken?.[key]);
  if (found.length === 0) return;
  throw invalid(Object.fromEntries(found.map((key) => [key, ['has already been taken']])));
}

/** @throws AppError 400 when the group has a project that more people see. The caller has locked the group. */
export async function requireNoneHigher(
  { em }: Pick<Work, 'em'>,
  groupId: number,
  level: number,
): Promise<void> {
  const higher = await sqlOne(
    em,
    'select 1 from projects where namespace_id = $1 and visibility_level > $2 and not pending_delete limit 1',
    [groupId, level],
  );
  if (!higher) return;
  const text = `${visibilityWord(level)} is not allowed since there are projects with higher visibility.`;
  throw invalid({ visibility_level: [text] });
}
