import type { RunnerInfo } from '../../shared/protocol/runner.ts';
import { Project } from '../entities/project.ts';
import { Runner, RunnerProject } from '../entities/runner.ts';
import { Settings } from '../entities/settings.ts';
import { forbidden, invalid } from '../errors.ts';
import { newRunnerToken, tokenDigest } from '../secrets.ts';
import type { Work } from '../services.ts';

export interface RunnerRegistration {
  /** The instance's registration token for a shared runner, a project's for a specific one. */
  token: string;
  description: string | null;
  tags: string[];
  runUntagged: boolean;
  locked: boolean;
  info: RunnerInfo;
}

/**
 * Makes a runner known and gives it its token.
 *
 * @throws AppError 403 for an unknown registration token, 400 for a runner that could never get a build.
 */
export async function registerRunner(
  work: Work,
  request: RunnerRegistration,
): Promise<{ id: number; token: string }> {
  const digest = tokenDigest(request.token);
  const settings = await work.em.findOne(Settings, { runnersRegistrationTokenDigest: digest });
  const project = settings
    ? null
    : await work.em.findOne(Project, { runnersTokenDigest: digest, pendingDelete: false });
  if (!settings && !project) throw forbidden();
  requireTags(request.tags, request.runUntagged);
  const token = newRunnerToken();
  const stored = work.secrets.store(token);
  const id = await work.em.insert(Runner, {
    tokenDigest: stored.digest,
    tokenSealed: stored.sealed,
    description: request.description,
    isShared: project === null,
    locked: request.locked,
    runUntagged: request.runUntagged,
    tagList: request.tags,
    ...request.info,
  });
  if (project) await work.em.insert(RunnerProject, { runner: id, project: project.id });
  return { id, token };
}

/** @throws AppError 400 when a runner takes neither tagged nor untagged builds. */
export function requireTags(tags: string[], runUntagged: boolean): void {
  if (runUntagged || tags.length > 0) return;
  throw invalid({ tag_list: ['can not be empty when runner is not allowed to pick untagged jobs'] });
}
