import type { CiParseResult, CiProblem } from './config.ts';
import { readDocument } from './document.ts';
import { defaultStages, globalKeywords, laterGlobalKeywords } from './global-keywords.ts';
import { type Globals, readJob } from './job.ts';
import { limits } from './limits.ts';
import { type CiNode, describe, type Entry, isNull, type MapNode } from './node.ts';
import { Place, type Problems } from './problems.ts';
import { readMapping, unknownKey } from './readers.ts';
import { nearest } from './suggest.ts';
import { checkAllDependencies, type ReadJob, sizeOfJob } from './validate.ts';

/**
 * Reads a CI file. Never throws: whatever is wrong with the text is in `errors`, at most twenty of them, in
 * the order of the file. Warnings do not keep the pipeline from running.
 */
export function parseCiConfig(text: string): CiParseResult {
  const { root, problems } = readDocument(text);
  const place = new Place('', problems);
  if (root && root.kind !== 'map') reportNoMapping(root, place);
  const config = root?.kind === 'map' ? readConfig(root, place) : null;
  const warnings = inFileOrder(problems.warnings);
  if (!config || problems.errors.length > 0) return { errors: inFileOrder(problems.errors), warnings };
  return { config: { ...config, warnings }, warnings };
}

function reportNoMapping(root: CiNode, place: Place): void {
  if (isNull(root)) place.error('file.empty', root, 'file is empty');
  else place.error('file.type', root, `file must be a mapping, not ${describe(root)}`);
}

function readConfig(root: MapNode, place: Place): { stages: string[]; jobs: ReadJob['job'][] } {
  const { globalEntries, jobEntries } = splitEntries(root);
  const table = { ...globalKeywords, ...laterGlobalKeywords };
  const node = {
    ...root,
    entries: globalEntries,
    duplicates: root.duplicates.filter(({ text }) => globalEntries.has(text)),
  };
  const values = readMapping({ node, table, at: place, unknownKind: 'key.unknown' });
  const isFaulty = place.problems.errors.some(({ path }) => path === 'stages' || path === 'types');
  const stages = values.stages ?? values.types ?? defaultStages;
  const globals: Globals = {
    stages: isFaulty ? null : stages,
    image: values.image,
    services: values.services,
    beforeScript: values.before_script,
    afterScript: values.after_script,
    variables: values.variables,
    cache: values.cache,
  };
  for (const key of root.duplicates)
    reportDuplicateJob(key.text, { jobEntries, offset: key.offset, problems: place.problems });
  const jobs = readJobs({ entries: jobEntries, globals, place });
  checkAllDependencies(jobs, jobEntries);
  return { stages, jobs: jobs.map(({ job }) => job) };
}

/** Separates keywords from jobs and drops hidden jobs, whose names start with a dot. */
function splitEntries(root: MapNode): { globalEntries: Map<string, Entry>; jobEntries: Map<string, Entry> } {
  const globalEntries = new Map<string, Entry>();
  const jobEntries = new Map<string, Entry>();
  for (const [name, entry] of root.entries) {
    if (Object.hasOwn(globalKeywords, name)) globalEntries.set(name, entry);
    else if (Object.hasOwn(laterGlobalKeywords, name) && !hasScript(entry)) globalEntries.set(name, entry);
    else if (!name.startsWith('.')) jobEntries.set(name, entry);
  }
  return { globalEntries, jobEntries };
}

function hasScript({ value }: Entry): boolean {
  return value.kind === 'map' && value.entries.has('script');
}

function readJobs(request: { entries: Map<string, Entry>; globals: Globals; place: Place }): ReadJob[] {
  const { entries, globals, place } = request;
  const jobs: ReadJob[] = [];
  if (entries.size === 0) place.error('jobs.none', { offset: 0 }, 'file has no visible job');
  if (entries.size > limits.jobs) {
    place.error('jobs.limit', { offset: 0 }, `file has more than ${limits.jobs} jobs`);
    return [];
  }
  // Global settings are copied into every job, so that a file of moderate size could make an immense plan.
  let size = 0;
  for (const [name, entry] of entries) {
    if (place.problems.isFull) break;
    if (reportNoJob({ name, entry, place })) continue;
    const at = place.child('jobs').child(name);
    const job = readJob({ name, entry, globals, at });
    if (job) jobs.push({ job, entry, at });
    size += job ? sizeOfJob(job) : 0;
    if (size <= limits.planSize) continue;
    const message = `all jobs together are larger than ${limits.planSize} characters`;
    place.error('file.size', { offset: 0 }, message);
    break;
  }
  return jobs;
}

/** A top-level value that cannot have been meant as a job: a misspelt keyword, or a number standing alone. */
function reportNoJob({ name, entry, place }: { name: string; entry: Entry; place: Place }): boolean {
  const { key, value } = entry;
  if (isNull(value) || typeof key.value !== 'string' || hasScript(entry)) return false;
  const keywords = Object.keys(globalKeywords);
  const isLone = value.kind === 'scalar' && typeof value.value !== 'string';
  if (name !== '<<' && !isLone && nearest(name, keywords) === null) return false;
  const message = isLone ? 'neither a keyword nor a job' : unknownKey(name, keywords);
  place.child(name).error('key.unknown', key, message);
  return true;
}

function reportDuplicateJob(
  name: string,
  { jobEntries, offset, problems }: { jobEntries: Map<string, Entry>; offset: number; problems: Problems },
): void {
  if (!jobEntries.has(name)) return;
  const message = 'job is given twice, the last one counts';
  problems.warn({ kind: 'job.duplicate', path: `jobs:${name}`, message, offset });
}

function inFileOrder(problems: CiProblem[]): CiProblem[] {
  return problems.sort((a, b) => a.line - b.line || a.column - b.column);
}
