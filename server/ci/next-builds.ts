import type { BuildStatus } from '../../shared/build-status.ts';
import type { JobWhen } from './config.ts';
import { type AggregateStatus, aggregateStatus } from './status.ts';

export interface PlannedJob {
  name: string;
  stageIndex: number;
  when: JobWhen;
}

/** The latest build of a name; older ones were retried and say nothing any more. */
export interface LatestBuild {
  name: string;
  stageIndex: number;
  status: BuildStatus;
  allowFailure: boolean;
}

/**
 * Names of the planned jobs that have to become builds now: those of the first stage that yields any,
 * judged by the builds of all earlier stages. A name that has a build is never returned, so that asking
 * again is harmless; whoever stores the answer must hold a lock on the pipeline.
 */
export function nextJobs({ jobs, builds }: { jobs: PlannedJob[]; builds: LatestBuild[] }): string[] {
  const started = new Set(builds.map(({ name }) => name));
  const waiting = jobs.filter(({ name }) => !started.has(name));
  const stages = [...new Set(waiting.map(({ stageIndex }) => stageIndex))].sort((a, b) => a - b);
  for (const stage of stages) {
    // Nothing before the first stage with jobs: it starts as if all had gone well.
    const prior = aggregateStatus(builds.filter(({ stageIndex }) => stageIndex < stage)) ?? 'success';
    const due = waiting.filter(({ stageIndex, when }) => stageIndex === stage && isDue(when, prior));
    if (due.length > 0) return due.map(({ name }) => name);
  }
  return [];
}

/** A cancelled build stops the line for all; a job started by hand is never due. */
function isDue(when: JobWhen, prior: AggregateStatus): boolean {
  if (when === 'manual') return false;
  if (prior === 'success') return when !== 'on_failure';
  return prior === 'failed' && when !== 'on_success';
}
