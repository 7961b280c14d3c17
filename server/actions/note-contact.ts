import type { RunnerInfo } from '../../shared/protocol/runner.ts';
import type { RunnerContact } from '../queries/runner-row.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

/** Remembers that a runner is alive, and what it says of itself. Writes at most once a minute unless that changed. */
export async function noteContact(
  work: Work,
  runner: RunnerContact,
  info: RunnerInfo | undefined,
): Promise<void> {
  const told = {
    name: info?.name ?? runner.name,
    version: info?.version ?? runner.version,
    revision: info?.revision ?? runner.revision,
    platform: info?.platform ?? runner.platform,
    architecture: info?.architecture ?? runner.architecture,
  };
  const isNews =
    told.name !== runner.name ||
    told.version !== runner.version ||
    told.revision !== runner.revision ||
    told.platform !== runner.platform ||
    told.architecture !== runner.architecture;
  if (runner.is_fresh && !isNews) return;
  await sql(
    work.em,
    `update runners set contacted_at = now(), name = $2, version = $3, revision = $4, platform = $5,
       architecture = $6
     where id = $1`,
    [runner.id, told.name, told.version, told.revision, told.platform, told.architecture],
  );
}
