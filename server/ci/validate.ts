import type { CiJob } from './config.ts';
import { type CiNode, type Entry, quote } from './node.ts';
import type { Place } from './problems.ts';

/** A job with its place in the file, for checks that need all jobs. */
export interface ReadJob {
  job: CiJob;
  entry: Entry;
  at: Place;
}

/**
 * Checks that every dependency is a job of an earlier stage; `names` are those of all jobs, the faulty ones
 * too.
 */
export function checkAllDependencies(jobs: ReadJob[], names: ReadonlyMap<string, unknown>): void {
  const byName = new Map(jobs.map(({ job }) => [job.name, job]));
  for (const read of jobs) checkDependencies(read, { byName, names });
}

interface KnownJobs {
  byName: Map<string, CiJob>;
  names: ReadonlyMap<string, unknown>;
}

function checkDependencies({ job, entry, at }: ReadJob, { byName, names }: KnownJobs): void {
  const place = at.child('dependencies');
  for (const item of dependencyNodes(entry.value)) {
    const name = item.kind === 'scalar' ? item.text : '';
    const needed = byName.get(name);
    if (!names.has(name)) place.error('dependencies.unknown', item, `there is no job ${quote(name)}`);
    else if (needed && needed.stageIndex >= job.stageIndex) {
      place.error('dependencies.order', item, `job ${quote(name)} is not in an earlier stage`);
    }
  }
}

function dependencyNodes(node: CiNode): CiNode[] {
  const list = node.kind === 'map' ? node.entries.get('dependencies')?.value : undefined;
  return list?.kind === 'list' ? list.items : [];
}

/** Characters of everything in a job that a file can make long, with something for each text. */
export function sizeOfJob(job: CiJob): number {
  const refs = [...(job.only ?? []), ...(job.except ?? [])].map(({ text }) => text);
  const lists = [job.script, job.afterScript, job.services, job.tags, job.dependencies, refs];
  const texts = [...lists, job.cache?.paths, job.artifacts?.paths, Object.entries(job.variables).flat()];
  return texts.reduce((total, list) => total + sizeOf(list), 0);
}

function sizeOf(texts: string[] | null | undefined): number {
  let size = 0;
  for (const text of texts ?? []) size += text.length + 16;
  return size;
}
