import type { EntityManager } from '@mikro-orm/postgresql';
import { accessLevels } from '../../shared/access-level.ts';
import { sqlOne } from '../sql.ts';
import type { ListQuery } from './list-query.ts';
import { memberProjects } from './member-projects.ts';
import { runnerColumns } from './runner-row.ts';

export const ownRunnerScopes = ['active', 'paused', 'online'] as const;
export const allRunnerScopes = ['specific', 'shared', ...ownRunnerScopes] as const;
export type RunnerScope = (typeof allRunnerScopes)[number];

const scopeConditions: Record<RunnerScope, string> = {
  active: 'r.active',
  paused: 'not r.active',
  // Evaluated per request: a contact within the last five minutes.
  online: `r.contacted_at > now() - interval '5 minutes'`,
  specific: 'not r.is_shared',
  shared: 'r.is_shared',
};

/** Projects of which the user in `$1` is at least a master. */
const masteredProjects = memberProjects('$1', accessLevels.master);

/** Specific runners of the projects that the user is a master of. */
export function listOwnRunners(userId: number, scope: RunnerScope | undefined): ListQuery {
  return listWhere(
    `not r.is_shared and exists (select 1 from runner_projects rp where rp.runner_id = r.id
       and rp.project_id in (${masteredProjects}))`,
    [userId],
    scope,
  );
}

export function listAllRunners(scope: RunnerScope | undefined): ListQuery {
  return listWhere('true', [], scope);
}

/** The project's own runners, and the shared ones where it takes them. */
export function listProjectRunners(
  project: { id: number; shared_runners_enabled: boolean },
  scope: RunnerScope | undefined,
): ListQuery {
  return listWhere(
    `(exists (select 1 from runner_projects rp where rp.runner_id = r.id and rp.project_id = $1)
       or (r.is_shared and $2))`,
    [project.id, project.shared_runners_enabled],
    scope,
  );
}

function listWhere(condition: string, values: unknown[], scope: RunnerScope | undefined): ListQuery {
  const where = scope ? `${condition} and ${scopeConditions[scope]}` : condition;
  return { columns: runnerColumns, from: `runners r where ${where}`, order: 'r.id', values };
}

/** Whether the user is a master of one of the projects that the runner serves. */
export async function mastersRunner(em: EntityManager, userId: number, runnerId: number): Promise<boolean> {
  const row = await sqlOne(
    em,
    `select 1 from runner_projects where runner_id = $2 and project_id in (${masteredProjects}) limit 1`,
    [userId, runnerId],
  );
  return row !== null;
}
