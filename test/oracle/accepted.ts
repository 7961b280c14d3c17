import type { CiConfig, CiJob } from '../../server/ci/config.ts';
import { type Literal, LiteralReader } from './ruby-literal.ts';

interface ExpectedJob {
  name: string;
  stage: string;
  stageIndex: number | null;
  commands: Literal;
  options: Literal;
  allowFailure: Literal;
  when: Literal;
  tags: Literal;
}

interface Expected {
  jobs: ExpectedJob[];
  stages: Literal;
}

/** Reads `OK name@stage(index) cmd=… opt=… af=… when=… tags=… | … stages=…`. */
export function readAccepted(verdict: string): Expected {
  const jobs: ExpectedJob[] = [];
  let at = 'OK '.length;
  while (!verdict.startsWith('stages=', at)) {
    const end = verdict.indexOf(' cmd=', at);
    const [, name = '', stage = '', index = ''] =
      /^(.*)@([^@]*)\((\d+|nil)\)$/s.exec(verdict.slice(at, end)) ?? [];
    const reader = new LiteralReader(verdict, end);
    const next = (label: string): Literal => {
      reader.position = verdict.indexOf(`${label}=`, reader.position) + label.length + 1;
      return reader.read();
    };
    jobs.push({
      name,
      stage,
      stageIndex: index === 'nil' ? null : Number(index),
      commands: next('cmd'),
      options: next('opt'),
      allowFailure: next('af'),
      when: next('when'),
      tags: next('tags'),
    });
    at = reader.position + (verdict.startsWith(' | ', reader.position) ? 3 : 1);
  }
  return { jobs, stages: new LiteralReader(verdict, at + 'stages='.length).read() };
}

/** What differs between a config and the one that was expected; null when nothing does. */
export function difference(config: CiConfig, expected: Expected): string | null {
  const ours = { jobs: config.jobs.map(shown), stages: config.stages };
  const theirs = { jobs: expected.jobs.map((job) => comparable(job, config.jobs)), stages: expected.stages };
  const [got, wanted] = [JSON.stringify(sorted(ours)), JSON.stringify(sorted(theirs))];
  return got === wanted ? null : `got ${got}, wanted ${wanted}`;
}

function shown(job: CiJob): ExpectedJob {
  const { image, services, artifacts, cache, dependencies } = job;
  const options = { image, services, artifacts, cache, dependencies, after_script: job.afterScript };
  return {
    name: job.name,
    stage: job.stage,
    stageIndex: job.stageIndex,
    commands: job.script.join('\n'),
    options: withoutNulls(options as unknown as Literal),
    allowFailure: job.allowFailure,
    when: job.when,
    tags: job.tags,
  };
}

/**
 * Rules by which a job differs on purpose: a stage given as null is the default one, not a job that never runs; and
 * null below a key is like no key.
 */
function comparable(job: ExpectedJob, ours: CiJob[]): ExpectedJob {
  const options = withoutNulls(job.options);
  if (job.stageIndex !== null) return { ...job, options };
  const same = ours.find(({ name }) => name === job.name);
  return { ...job, options, stage: 'test', stageIndex: same?.stage === 'test' ? same.stageIndex : null };
}

function withoutNulls(value: Literal): Literal {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([, item]) => item !== null && item !== undefined);
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutNulls(item)]));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, item]) => [key, sorted(item)]);
}
