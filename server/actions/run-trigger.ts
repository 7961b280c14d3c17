import { isStorable } from '../../shared/storable-text.ts';
import { badRequest, nothingHere, unauthorized } from '../errors.ts';
import { checkRefName, zeroSha } from '../git/ref-name.ts';
import type { ProjectRow } from '../queries/project-row.ts';
import { repositoryOf } from '../queries/repository.ts';
import { findTrigger } from '../queries/triggers.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { createPipeline } from './create-pipeline.ts';

export interface TriggerCall {
  project: ProjectRow;
  token: string;
  ref: string;
  /** As sent: a map of texts, if it is anything. */
  variables: unknown;
}

/**
 * Starts a new pipeline of a branch or tag. The token is the only credential.
 *
 * @throws AppError 404 for an unknown token, 401 for one of another project, 400 for variables that are no map of
 * texts, or when no build comes of it.
 */
export async function runTrigger(
  work: Work,
  call: TriggerCall,
): Promise<{ pipelineId: number; variables: Record<string, string> | null }> {
  const trigger = await findTrigger(work.em, call.token);
  if (!trigger) throw nothingHere();
  if (trigger.project_id !== call.project.id) throw unauthorized();
  const variables = readVariables(call.variables);
  const target = await findRef(work, call);
  if (!target || !call.project.builds_enabled) throw badRequest('No builds created');
  const pipelineId = await createPipeline(work, {
    project: { id: call.project.id, fullPath: `${call.project.namespace_path}/${call.project.path}` },
    ref: call.ref,
    isTag: target.isTag,
    sha: target.commit,
    beforeSha: zeroSha,
    userId: null,
    cause: { kind: 'trigger', triggerId: trigger.id, variables },
  });
  if (pipelineId === null) throw badRequest('No builds created');
  await sql(work.em, 'update triggers set last_used = now() where id = $1', [trigger.id]);
  return { pipelineId, variables };
}

/** A branch wins over a tag of the same name. */
async function findRef(
  work: Work,
  { project, ref }: TriggerCall,
): Promise<{ isTag: boolean; commit: string } | null> {
  const dir = repositoryOf(work, project);
  for (const [prefix, isTag] of [
    ['refs/heads/', false],
    ['refs/tags/', true],
  ] as const) {
    const name = prefix + ref;
    const found = checkRefName(name) ? await work.objects.readInfo(dir, `${name}^{commit}`) : null;
    if (found) return { isTag, commit: found.sha };
  }
  return null;
}

function readVariables(given: unknown): Record<string, string> | null {
  if (given === undefined || given === null || given === '') return null;
  if (typeof given !== 'object' || Array.isArray(given)) throw badRequest('variables needs to be a hash');
  const entries = Object.entries(given);
  if (entries.some(([key, value]) => typeof value !== 'string' || !isStorable(key) || !isStorable(value))) {
    throw badRequest('variables needs to be a map of key-valued strings');
  }
  return Object.fromEntries(entries) as Record<string, string>;
}
