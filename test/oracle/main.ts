// `node --import tsx test/oracle/main.ts FOLDER`: compares with verdicts of the first processor of these files, which
// lie in FOLDER/oracle and FOLDER/corpus. They are other people's, so they are no part of this repository.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { CiConfig, CiJob } from '../../server/ci/config.ts';
import { jobsForRef } from '../../server/ci/only-except.ts';
import { parseCiConfig } from '../../server/ci/parse.ts';
import { parseDuration } from '../../shared/duration.ts';

interface Case {
  name: string;
  yaml: string;
  v8_9: string;
}

interface CorpusFile {
  file: string;
  real_8_9: string;
}

const [folder] = process.argv.slice(2);
process.exitCode = folder ? await main(folder) : usage();

function usage(): number {
  process.stderr.write('oracle: name the folder with oracle/ and corpus/\n');
  return 2;
}

async function main(folder: string): Promise<number> {
  const cases = JSON.parse(await readFile(join(folder, 'oracle/ci-config-cases.json'), 'utf8')) as Case[];
  const corpus = join(folder, 'corpus/gitlab-ci');
  const files = JSON.parse(await readFile(join(corpus, 'manifest.json'), 'utf8')) as CorpusFile[];
  const durations = await readFile(join(folder, 'oracle/durations.txt'), 'utf8');
  const faults = [
    ...cases.flatMap(faultsOfCase),
    ...(await Promise.all(files.map((file) => faultsOfFile(corpus, file)))).flat(),
    ...durations.split('\n').flatMap(faultsOfDuration),
  ];
  for (const fault of faults) process.stdout.write(`oracle: ${fault}\n`);
  const accepted = cases.filter(isAccepted).length + files.filter((f) => f.real_8_9.startsWith('OK')).length;
  process.stdout.write(`oracle: ${accepted} accepted documents compared, ${faults.length} differences\n`);
  return faults.length === 0 ? 0 : 1;
}

function isAccepted({ v8_9 }: Case): boolean {
  return v8_9.startsWith('OK ');
}

/** Jobs, stages, commands and options must be the same, apart from what is better on purpose. */
function faultsOfCase(given: Case): string[] {
  if (!isAccepted(given)) return [];
  const result = parseCiConfig(given.yaml);
  const expected = readVerdict(given.v8_9);
  if ('errors' in result) {
    // A time that says nothing is a fault here; it was found only when artifacts came.
    if (result.errors.every(({ kind }) => kind === 'duration.parse')) return [];
    return [`${given.name}: refused: ${result.errors[0]?.message}`];
  }
  const ours = { jobs: result.config.jobs.map(verdictOf), stages: result.config.stages };
  if (isDeepStrictEqual(ours, expected)) return [];
  return [`${given.name}: ${JSON.stringify(ours)} is not ${JSON.stringify(expected)}`];
}

interface JobVerdict {
  job: string;
  commands: string;
  options: unknown;
  allowFailure: boolean;
  when: string;
  tags: unknown;
}

/** `OK NAME@STAGE(INDEX) cmd=… opt={…} af=… when=… tags=[…] | … stages=[…]`, hashes as Ruby writes them. */
function readVerdict(text: string): { jobs: JobVerdict[]; stages: unknown } {
  const [, jobs = '', stages = '[]'] = /^OK (.*) stages=(\[.*\])$/s.exec(text) ?? [];
  return { jobs: jobs.split(' | ').map(readJob), stages: JSON.parse(stages) };
}

function readJob(text: string): JobVerdict {
  const match = /^(.*) cmd=(".*") opt=(\{.*\}) af=(\w+) when=(\w+) tags=(\[.*\])$/s.exec(text);
  if (!match) throw new Error(`this verdict cannot be read: ${text}`);
  const [, job = '', commands = '', options = '', allowFailure, when = '', tags = ''] = match;
  return {
    // Without a stage a job never ran; here it gets the usual one.
    job: job.replace('@(nil)', '@test(1)'),
    commands: JSON.parse(commands),
    options: present(JSON.parse(options.replaceAll(/:(\w+)=>/g, '"$1":').replaceAll(/\bnil\b/g, 'null'))),
    allowFailure: allowFailure === 'true',
    when,
    tags: JSON.parse(tags),
  };
}

function verdictOf(job: CiJob): JobVerdict {
  const { image, services, artifacts, cache, dependencies, afterScript: after_script } = job;
  return {
    job: `${job.name}@${job.stage}(${job.stageIndex})`,
    commands: job.script.join('\n'),
    options: present({ image, services, artifacts, cache, dependencies, after_script }),
    allowFailure: job.allowFailure,
    when: job.when,
    tags: job.tags,
  };
}

/** Keys without a value say nothing, at any depth. */
function present(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const pairs = Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined);
  return Object.fromEntries(pairs.map(([key, inner]) => [key, present(inner)]));
}

async function faultsOfFile(corpus: string, { file, real_8_9: verdict }: CorpusFile): Promise<string[]> {
  if (!verdict.startsWith('OK ')) return [];
  const result = parseCiConfig(await readFile(join(corpus, file), 'utf8'));
  if ('errors' in result) return [`${file}: refused: ${result.errors[0]?.message}`];
  const ours = `OK jobs=${result.config.jobs.length} stages=${result.config.stages.length} ${counts(result.config)}`;
  return ours === verdict ? [] : [`${file}: ${ours}, expected ${verdict}`];
}

function counts(config: CiConfig): string {
  const count = (ref: string, tag: boolean) =>
    jobsForRef(config, { ref, tag, trigger: false, projectPath: 'group/project' }).length;
  return `onmaster=${count('master', false)} ontag=${count('v1.0', true)}`;
}

/** `"TEXT" => SECONDS`, or a word for a fault. */
function faultsOfDuration(line: string): string[] {
  const match = /^(".*") => (\S+)/.exec(line);
  if (!match) return [];
  const [, text = '""', expected = ''] = match;
  const seconds = /^[\d.]+$/.test(expected) ? Number(expected) : null;
  const given = secondsOf(JSON.parse(text));
  // Never is a duration here.
  if (given === seconds || JSON.parse(text) === 'never') return [];
  return [`duration ${text}: ${given}, expected ${expected}`];
}

function secondsOf(text: string): number | null {
  try {
    return parseDuration(text);
  } catch {
    // Whatever the fault is: none was expected, or any.
    return null;
  }
}
