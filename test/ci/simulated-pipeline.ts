import type { CiJob } from '../../server/ci/config.ts';
import { nextJobs } from '../../server/ci/next-builds.ts';
import { jobsForRef } from '../../server/ci/only-except.ts';
import { parseCiConfig } from '../../server/ci/parse.ts';
import { type AggregateStatus, aggregateStatus } from '../../server/ci/status.ts';
import { type BuildStatus, isFinished } from '../../shared/build-status.ts';

interface SimulatedBuild {
  id: number;
  name: string;
  stageIndex: number;
  status: BuildStatus;
  allowFailure: boolean;
}

/** A pipeline in memory: rows of builds and a plan, moved by the same two functions as the real one. */
export class SimulatedPipeline {
  readonly builds: SimulatedBuild[] = [];
  private readonly jobs: CiJob[];

  constructor(text: string, { ref = 'master', tag = false } = {}) {
    const result = parseCiConfig(text);
    if ('errors' in result) throw new Error(JSON.stringify(result.errors));
    this.jobs = jobsForRef(result.config, { ref, tag, trigger: false, projectPath: 'group/project' });
    this.progress();
  }

  get status(): AggregateStatus | null {
    return aggregateStatus(this.latest());
  }

  /** Names of all builds in the order of their ids. */
  get names(): string[] {
    return this.builds.map(({ name }) => name);
  }

  /** Ends the latest build of a name. Refused, like a late report of a runner, when it has ended already. */
  end(name: string, status: BuildStatus): boolean {
    const build = this.latest().find((candidate) => candidate.name === name);
    if (!build || isFinished(build.status)) return false;
    build.status = status;
    this.progress();
    return true;
  }

  /** Takes the oldest pending build; two callers cannot get the same one. */
  claim(): number | null {
    const build = this.builds.find(({ status }) => status === 'pending');
    if (!build) return null;
    build.status = 'running';
    return build.id;
  }

  retry(name: string): void {
    const build = this.latest().find((candidate) => candidate.name === name);
    if (!build) throw new Error(`no build ${name}`);
    this.builds.push({ ...build, id: this.builds.length + 1, status: 'pending' });
  }

  private progress(): void {
    for (const name of nextJobs({ jobs: this.jobs, builds: this.latest() })) {
      const job = this.jobs.find((candidate) => candidate.name === name);
      if (!job) throw new Error(`no job ${name}`);
      const { stageIndex, allowFailure } = job;
      this.builds.push({ id: this.builds.length + 1, name, stageIndex, status: 'pending', allowFailure });
    }
  }

  private latest(): SimulatedBuild[] {
    return [...new Map(this.builds.map((build) => [build.name, build])).values()];
  }
}
