import { visibilityLevels, visibilityWord } from '../../shared/access-level.ts';
import type { Namespace } from '../entities/namespace.ts';
import type { Settings } from '../entities/settings.ts';
import { invalid } from '../errors.ts';
import { openLevelUpTo, requireOpenLevel } from '../policy/visibility.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';

export interface VisibilityChoice {
  visibilityLevel?: number | undefined;
  /** True stands for level 20, false for 0; does not count beside a level. */
  isPublic?: boolean | undefined;
}

export interface VisibilityBounds {
  viewer: { is_admin: boolean };
  settings: Settings;
  namespace: Namespace;
  /** Level of the project that it is a fork of. */
  sourceLevel?: number | undefined;
}

/** The level that is asked for, or undefined when none is. */
export function chosenVisibility({ visibilityLevel, isPublic }: VisibilityChoice): number | undefined {
  if (visibilityLevel !== undefined || isPublic === undefined) return visibilityLevel;
  return isPublic ? visibilityLevels.public : visibilityLevels.private;
}

/**
 * The level for a project; the instance's default when none is asked for.
 *
 * @throws AppError 400 for an unknown level, one that the administrator has restricted, or one above that of the group
 * or of the fork's source.
 */
export function requireVisibility(choice: VisibilityChoice, bounds: VisibilityBounds): number {
  const { viewer, settings, namespace, sourceLevel } = bounds;
  const chosen = chosenVisibility(choice);
  const highest = namespace.kind === 'group' ? namespace.visibilityLevel : visibilityLevels.public;
  if (chosen === undefined) {
    return openLevelUpTo(Math.min(settings.defaultProjectVisibility, highest), { viewer, settings });
  }
  requireOpenLevel(chosen, { viewer, settings });
  const name = visibilityWord(chosen);
  if (sourceLevel !== undefined && chosen > sourceLevel) {
    const reason = 'the fork source project has lower visibility';
    throw invalid({ visibility_level: [`${name} is not allowed since ${reason}.`] });
  }
  if (chosen <= highest) return chosen;
  const group = visibilityWord(namespace.visibilityLevel);
  throw invalid({ visibility_level: [`${name} is not allowed in a ${group} group.`] });
}

/**
 * Holds a project and its source until the transaction ends, so that neither changes who sees it meanwhile.
 *
 * @returns the level of the source; undefined for what is no fork of a project that is there.
 */
export async function holdVisibility(
  { em }: Pick<Work, 'em'>,
  projectId: number,
): Promise<number | undefined> {
  await sql(em, holdBoth, [projectId]);
  const source = await sqlOne<{ level: number }>(em, findSource, [projectId]);
  return source?.level;
}

const holdBoth = `
  select 1 from projects where id = $1 or id = (select forked_from_id from projects where id = $1)
  order by id for no key update`;

const findSource = `
  select s.visibility_level as level from projects p join projects s on s.id = p.forked_from_id
  where p.id = $1 and not s.pending_delete`;

/** Shows a project to no more people than a level does, and so its forks and theirs. Lower ones stay as they are. */
export async function limitVisibility(
  { em }: Pick<Work, 'em'>,
  projectId: number,
  level: number,
): Promise<void> {
  await sql(em, lower, [projectId, level]);
}

/** All are held in one order before the first is changed: two of these at once never wait for each other. */
const lower = `
  with recursive family as (
    select $1::int as id
    union select f.id from family join projects f on f.forked_from_id = family.id
  ), held as (
    select id from projects where id in (select id from family) order by id for no key update
  )
  update projects p set visibility_level = $2, updated_at = now() from held
  where p.id = held.id and p.visibility_level > $2`;
