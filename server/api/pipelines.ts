import { cancelPipeline } from '../actions/cancel-build.ts';
import { retryPipeline } from '../actions/retry-build.ts';
import { notFound } from '../errors.ts';
import { onProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { optional, pathId, revision } from '../http/params.ts';
import { PipelineJson, presentPipeline } from '../present/pipeline.ts';
import { findPipeline, listPipelines, type PipelineRow } from '../queries/pipelines.ts';
import type { Work } from '../services.ts';

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines',
  summary: 'Pipelines of a project, newest first',
  access: onProject('read_build'),
  params: { ref: optional(revision()), sha: optional(revision()) },
  returns: PipelineJson,
  list: true,
  async run({ project, params, page, work }) {
    const query = listPipelines({ projectId: project.id, ...params });
    const pipelines = await paginate<PipelineRow>(work.em, query, page);
    return pipelines.map((pipeline) => presentPipeline(pipeline, work.origin));
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id',
  summary:
    'One pipeline, with what is wrong with its configuration and the jobs that wait to be started by hand',
  access: onProject('read_build'),
  params: { pipeline_id: pathId() },
  returns: PipelineJson,
  async run({ project, params, work }) {
    return presentPipeline(await requirePipeline(work, project.id, params.pipeline_id), work.origin);
  },
});

const retry = endpoint({
  method: 'POST',
  path: '/projects/:id/pipelines/:pipeline_id/retry',
  summary: 'Runs the failed jobs of a pipeline again',
  access: onProject('update_build'),
  params: { pipeline_id: pathId() },
  returns: PipelineJson,
  async run({ viewer, project, params, work }) {
    const { id } = await requirePipeline(work, project.id, params.pipeline_id);
    await retryPipeline(work, id, viewer.id);
    return presentPipeline(await requirePipeline(work, project.id, id), work.origin);
  },
});

const cancel = endpoint({
  method: 'POST',
  path: '/projects/:id/pipelines/:pipeline_id/cancel',
  summary: 'Cancels every pending and running build of a pipeline',
  access: onProject('update_build'),
  params: { pipeline_id: pathId() },
  returns: PipelineJson,
  async run({ project, params, work }) {
    const { id } = await requirePipeline(work, project.id, params.pipeline_id);
    await cancelPipeline(work, id);
    return presentPipeline(await requirePipeline(work, project.id, id), work.origin);
  },
});

export const endpoints: Endpoint[] = [list, get, retry, cancel];

async function requirePipeline(work: Work, projectId: number, id: number): Promise<PipelineRow> {
  const pipeline = await findPipeline(work.em, projectId, id);
  if (!pipeline) throw notFound();
  return pipeline;
}
