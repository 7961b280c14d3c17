import type { EntityManager } from '@mikro-orm/postgresql';
import { tokenDigest } from '../secrets.ts';
import { sqlOne } from '../sql.ts';

/** What it takes to remember that a runner has called. */
export interface RunnerContact {
  id: number;
  name: string | null;
  version: string | null;
  revision: string | null;
  platform: string | null;
  architecture: string | null;
  /** Contacted less than a minute ago. */
  is_fresh: boolean;
}

export interface RunnerRow extends RunnerContact {
  description: string | null;
  is_shared: boolean;
  active: boolean;
  locked: boolean;
  run_untagged: boolean;
  tag_list: string[];
  contacted_at: Date | null;
  token_sealed: Buffer;
}

export const runnerColumns = `r.id, r.description, r.is_shared, r.active, r.locked, r.run_untagged, r.tag_list,
  r.name, r.version, r.revision, r.platform, r.architecture, r.contacted_at, r.token_sealed,
  coalesce(r.contacted_at > now() - interval '60 seconds', false) as is_fresh`;

/** How a runner is known: by the digest of its token, or by its id. */
export type RunnerKey = { by: keyof typeof runnerBy; value: Buffer | number };

/** Finds, from `$1`, a runner in the table `r`. */
export const runnerBy = { token: 'r.token_digest = $1', id: 'r.id = $1' };

/** The runner with this token, or null. */
export async function runnerByToken(em: EntityManager, token: string): Promise<RunnerRow | null> {
  return sqlOne<RunnerRow>(em, `select ${runnerColumns} from runners r where ${runnerBy.token}`, [
    tokenDigest(token),
  ]);
}

export async function runnerById(em: EntityManager, id: number): Promise<RunnerRow | null> {
  return sqlOne<RunnerRow>(em, `select ${runnerColumns} from runners r where ${runnerBy.id}`, [id]);
}
