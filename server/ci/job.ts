import type { CacheOptions } from '../../shared/protocol/build.ts';
import type { CiJob } from './config.ts';
import { jobKeywords } from './job-keywords.ts';
import { limits } from './limits.ts';
import { type Entry, isNull, type MapNode } from './node.ts';
import type { Place } from './problems.ts';
import { readMapping, type ValuesOf } from './readers.ts';

/** What the top of the file sets for all jobs. `stages` is null when the file's own list is faulty. */
export interface Globals {
  stages: string[] | null;
  image: string | null;
  services: string[] | null;
  beforeScript: string[] | null;
  afterScript: string[] | null;
  variables: Record<string, string> | null;
  cache: CacheOptions | null;
}

export interface JobRequest {
  name: string;
  entry: Entry;
  globals: Globals;
  at: Place;
}

/** Reads one visible job; null when it is so faulty that there is nothing to go on with. */
export function readJob({ name, entry, globals, at }: JobRequest): CiJob | null {
  const node = checkName(name, entry, at) ? mapOf(entry, at) : null;
  if (!node) return null;
  const values = readMapping({ node, table: jobKeywords, at, unknownKind: 'job.key.unknown' });
  const own = node.entries.get('script');
  if ((!own || isNull(own.value)) && !isOfOtherKind(node))
    at.error('job.script.missing', own?.key ?? entry.key, 'needs a script');
  if (name === 'pages')
    at.warn('job.pages', entry.key, 'sites are not published, the job runs like any other');
  const stage = stageOf({ values, globals, node, entry, at });
  return assemble({ name, values, globals, stage });
}

/** Jobs that take their script from elsewhere, or do something else; that is reported as not supported. */
function isOfOtherKind(node: MapNode): boolean {
  return ['extends', 'trigger', 'run'].some((key) => node.entries.has(key));
}

function mapOf({ key, value }: Entry, at: Place): MapNode | null {
  if (value.kind === 'map') return value;
  if (isNull(value)) at.error('job.blank', key, 'must not be empty');
  else at.error('job.type', value, 'a job must be a mapping');
  return null;
}

function checkName(name: string, { key }: Entry, at: Place): boolean {
  const isText = typeof key.value === 'string' && name !== '';
  if (key.isCollection) at.error('yaml.key', key, 'a key must be text');
  else if (!isText) at.error('job.name', key, 'the name of a job must be non-empty text');
  else if (name.length > limits.nameLength) {
    at.error('job.name', key, `the name of a job has at most ${limits.nameLength} characters`);
  }
  return isText;
}

interface Stage {
  name: string;
  index: number;
}

function stageOf(job: {
  values: ValuesOf<typeof jobKeywords>;
  globals: Globals;
  node: MapNode;
  entry: Entry;
  at: Place;
}): Stage {
  const { values, globals, node, entry, at } = job;
  const given = values.stage ?? values.type;
  const name = given ?? 'test';
  const index = globals.stages?.indexOf(name) ?? 0;
  if (index >= 0 || !globals.stages) return { name, index };
  const source = node.entries.get(values.stage === null ? 'type' : 'stage')?.value ?? entry.key;
  if (given !== null) {
    const allowed = globals.stages.join(', ');
    at.child('stage').error('job.stage.unknown', source, `must be one of the stages: ${allowed}`);
  } else if (!hasFaultyStage(node) && !node.entries.has('extends')) {
    at.error('job.stage.default', entry.key, 'default stage "test" is not in stages');
  }
  return { name, index };
}

/** A stage that is not text has been reported already; the default would only be a second report of it. */
function hasFaultyStage(node: MapNode): boolean {
  const given = ['stage', 'type'].map((key) => node.entries.get(key)?.value);
  return given.some((value) => value !== undefined && !isNull(value));
}

function assemble(parts: {
  name: string;
  values: ValuesOf<typeof jobKeywords>;
  globals: Globals;
  stage: Stage;
}): CiJob {
  const { name, values, globals, stage } = parts;
  const before = values.before_script ?? globals.beforeScript ?? [];
  return {
    name,
    stage: stage.name,
    stageIndex: stage.index,
    script: [...before, ...(values.script ?? [])],
    afterScript: values.after_script ?? globals.afterScript,
    image: values.image ?? globals.image,
    services: values.services ?? globals.services,
    variables: Object.assign(Object.create(null), globals.variables, values.variables),
    tags: values.tags,
    only: values.only,
    except: values.except,
    // A job that waits for a person must not hold up the pipeline.
    allowFailure: values.allow_failure ?? values.when === 'manual',
    when: values.when,
    dependencies: values.dependencies,
    artifacts: values.artifacts,
    cache: values.cache ?? globals.cache,
    environment: values.environment,
    coverage: values.coverage,
  };
}
