import { runTrigger } from '../actions/run-trigger.ts';
import { nothingHere } from '../errors.ts';
import { anyone } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { anything, optional, pathText, text } from '../http/params.ts';
import { presentTriggeredCommit, TriggeredCommitJson } from '../present/trigger.ts';
import { findProject } from '../queries/project-row.ts';
import { findTriggeredPipeline } from '../queries/triggers.ts';

const trigger = endpoint({
  method: 'POST',
  path: '/projects/:id/refs/:ref/trigger',
  summary: 'Starts a pipeline, at the address that older scripts know',
  access: anyone(),
  params: { id: pathText(), ref: pathText(), token: text({ max: 255 }), variables: optional(anything()) },
  returns: TriggeredCommitJson,
  async run({ params, work }) {
    const project = await findProject(work.em, params.id, null);
    if (!project) throw nothingHere();
    const { pipelineId, variables } = await runTrigger(work, { ...params, project });
    const pipeline = await findTriggeredPipeline(work.em, pipelineId);
    if (!pipeline) throw nothingHere();
    return presentTriggeredCommit({ variables, pipeline });
  },
});

export const endpoints: Endpoint[] = [trigger];
