import { buildStatuses } from '../../shared/build-status.ts';
import { openTrace } from '../actions/open-trace.ts';
import { AppError, badRequest, nothingHere } from '../errors.ts';
import { onBuild, onProject } from '../http/access.ts';
import { bytes, StreamAnswer } from '../http/answers.ts';
import { openArtifacts } from '../http/artifacts-answer.ts';
import { readRangeStart } from '../http/byte-range.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { optional, pathId, pathText, text, words } from '../http/params.ts';
import { BuildJson, presentBuild } from '../present/build.ts';
import { type BuildRow, findBuild } from '../queries/build-row.ts';
import { findArtifactsBuild, listBuilds } from '../queries/builds.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/builds',
  summary: 'Builds of a project, newest first',
  access: onProject('read_build'),
  params: { scope: optional(words()) },
  returns: BuildJson,
  list: true,
  async run({ project, params, page, work }) {
    const query = listBuilds({ projectId: project.id, statuses: readScope(params.scope) });
    const builds = await paginate<BuildRow>(work.em, query, page);
    return builds.map((build) => presentBuild(build, work.origin));
  },
});

const listOfCommit = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/builds',
  summary: 'Builds of a commit, of all refs, newest first',
  access: onProject('read_build'),
  params: { sha: pathText(), scope: optional(words()) },
  returns: BuildJson,
  list: true,
  async run({ project, params, page, work }) {
    if (!/^[0-9a-f]{40}$/.test(params.sha)) throw nothingHere();
    const commit = await work.objects.readInfo(repositoryOf(work, project), `${params.sha}^{commit}`);
    if (!commit) throw nothingHere();
    const query = listBuilds({ projectId: project.id, statuses: readScope(params.scope), sha: params.sha });
    const builds = await paginate<BuildRow>(work.em, query, page);
    return builds.map((build) => presentBuild(build, work.origin));
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/builds/:build_id',
  summary: 'One build',
  access: onBuild('read_build'),
  params: { build_id: pathId() },
  returns: BuildJson,
  async run({ build, work }) {
    return presentBuild(build, work.origin);
  },
});

const artifacts = endpoint({
  method: 'GET',
  path: '/projects/:id/builds/:build_id/artifacts',
  summary: 'The artifacts file of a build',
  access: onBuild('read_build'),
  params: { build_id: pathId() },
  returns: bytes('application/octet-stream'),
  async run({ build, work }) {
    return openArtifacts(work, build);
  },
});

const artifactsOfRef = endpoint({
  method: 'GET',
  path: '/projects/:id/builds/artifacts/*ref/download',
  summary: 'The artifacts file of a job in the newest successful pipeline of a branch or tag',
  access: onProject('read_build'),
  params: { ref: pathText(), job: text() },
  returns: bytes('application/octet-stream'),
  async run({ project, params, work }) {
    const build = await findArtifactsBuild(work.em, { projectId: project.id, ...params });
    if (!build) throw nothingHere();
    return openArtifacts(work, build);
  },
});

const trace = endpoint({
  method: 'GET',
  path: '/projects/:id/builds/:build_id/trace',
  summary: 'The trace so far; `Range: bytes=N-` follows it from an offset',
  access: onBuild('read_build'),
  params: { build_id: pathId() },
  returns: bytes('text/plain'),
  async run({ build, work, header }) {
    return traceAnswer(work, build, readRangeStart(header('range')));
  },
});

export const endpoints: Endpoint[] = [list, listOfCommit, get, artifacts, artifactsOfRef, trace];

/** @throws AppError 404 when the project has no such build. */
export async function requireBuild(work: Work, projectId: number, id: number): Promise<BuildRow> {
  const build = await findBuild(work.em, projectId, id);
  if (!build) throw nothingHere();
  return build;
}

/** `skipped` is a word of the interface that no build ever answers to. */
function readScope(scope: string[] | undefined): BuildRow['status'][] | null {
  if (!scope || scope.length === 0) return null;
  const known: readonly string[] = [...buildStatuses, 'skipped'];
  if (scope.some((word) => !known.includes(word))) throw badRequest('Scope contains invalid value(s)');
  return buildStatuses.filter((status) => scope.includes(status));
}

async function traceAnswer(work: Work, build: BuildRow, start: number): Promise<StreamAnswer> {
  const { stream, length } = await openTrace(work, build, start);
  if (start > 0 && start >= length) {
    stream.destroy();
    const headers = { 'Content-Range': `bytes */${length}` };
    throw new AppError({ status: 416, message: '416 Range Not Satisfiable', headers });
  }
  const headers = {
    'Content-Type': 'text/plain',
    'Content-Disposition': `infile; filename="${build.id}.log"`,
    'Content-Length': String(length - start),
    'Accept-Ranges': 'bytes',
    'X-Content-Type-Options': 'nosniff',
  };
  if (start === 0) return new StreamAnswer(stream, headers);
  const range = { 'Content-Range': `bytes ${start}-${length - 1}/${length}` };
  return new StreamAnswer(stream, { ...headers, ...range }, 206);
}
