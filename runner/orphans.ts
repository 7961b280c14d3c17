import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buildPaths } from './build-paths.ts';
import type { RunnerClient } from './client.ts';
import type { Registration } from './config.ts';
import { readLastReport } from './job/last-report.ts';
import type { Log } from './log.ts';

export interface OrphansRequest {
  registration: Registration;
  configPath: string;
  client: Pick<RunnerClient, 'updateBuild'>;
  /** Builds that run now. */
  live: ReadonlySet<number>;
  log: Log;
}

const lastWords = '\nERROR: Job failed (system failure): the runner was restarted while the job ran\n';

/**
 * Reports the builds that an earlier process was running, or had yet to report, when it died, with as much of their
 * trace as is on disk. Those that the server does not take now stay for the next call.
 *
 * @throws Error when there are some that stay.
 */
export async function reportOrphans({
  registration,
  configPath,
  client,
  live,
  log,
}: OrphansRequest): Promise<void> {
  const nobody = { id: 0, project_id: 0, repo_url: '' };
  const { temporary } = buildPaths({ registration, configPath, build: nobody, projectSlot: 0 });
  const directory = dirname(temporary);
  let waiting = 0;
  for (const name of await readdir(directory).catch(() => [])) {
    const buildId = Number(name);
    if (live.has(buildId)) continue;
    const left = join(directory, name);
    if (Number.isSafeInteger(buildId)) {
      const { state, trace } = await readLastReport(left);
      const report = { state: state ?? 'failed', trace: state === null ? trace + lastWords : trace };
      const answer = await client.updateBuild({ ...report, buildId, token: registration.token });
      log.warn(
        { build: buildId, state, answer: answer.kind },
        'an earlier process did not report this build',
      );
      if (answer.kind === 'unavailable') {
        waiting += 1;
        continue;
      }
    }
    await rm(left, { recursive: true, force: true });
  }
  if (waiting > 0) throw new Error(`the server does not take the end of ${waiting} builds now`);
}
