import { runTrigger } from '../actions/run-trigger.ts';
import { createTrigger, revokeTrigger } from '../actions/triggers.ts';
import { notFound, nothingHere } from '../errors.ts';
import { anyone, onProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { anything, optional, pathText, revision, text } from '../http/params.ts';
import { presentTrigger, TriggeredJson, TriggerJson } from '../present/trigger.ts';
import { findProject } from '../queries/project-row.ts';
import { findTrigger, listTriggers, type TriggerRow } from '../queries/triggers.ts';
import type { Work } from '../services.ts';

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/triggers',
  summary: 'Triggers of the project',
  access: onProject('admin_ci'),
  returns: TriggerJson,
  list: true,
  async run({ project, page, work }) {
    const rows = await paginate<TriggerRow>(work.em, listTriggers(project.id), page);
    return rows.map((row) => presentOpened(work, row));
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/triggers/:token',
  summary: 'One trigger',
  access: onProject('admin_ci'),
  params: { token: pathText() },
  returns: TriggerJson,
  async run({ project, params, work }) {
    return presentOpened(work, await requireTrigger(work, project.id, params.token));
  },
});

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/triggers',
  summary: 'Makes a token that starts pipelines of the project',
  access: onProject('admin_ci'),
  returns: TriggerJson,
  async run({ viewer, project, work }) {
    return presentOpened(work, await createTrigger(work, project.id, viewer.id));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/triggers/:token',
  summary: 'Revokes a trigger',
  access: onProject('admin_ci'),
  params: { token: pathText() },
  returns: TriggerJson,
  async run({ project, params, work }) {
    const { id } = await requireTrigger(work, project.id, params.token);
    const revoked = await revokeTrigger(work, id);
    if (!revoked) throw notFound('Trigger');
    return presentOpened(work, revoked);
  },
});

const run = endpoint({
  method: 'POST',
  path: '/projects/:id/trigger/builds',
  summary: 'Starts a pipeline of a branch or tag; the token of a trigger is the only credential',
  access: anyone(),
  params: {
    id: pathText(),
    ref: revision(),
    token: text({ max: 255 }),
    variables: optional(anything()),
  },
  returns: TriggeredJson,
  async run({ params, work }) {
    const project = await findProject(work.em, params.id, null);
    if (!project) throw nothingHere();
    const { pipelineId, variables } = await runTrigger(work, { ...params, project });
    return { id: pipelineId, variables };
  },
});

export const endpoints: Endpoint[] = [list, get, create, remove, run];

async function requireTrigger(work: Work, projectId: number, token: string): Promise<TriggerRow> {
  const row = await findTrigger(work.em, token);
  if (!row || row.project_id !== projectId) throw notFound('Trigger');
  return row;
}

function presentOpened(work: Work, row: TriggerRow) {
  return presentTrigger(row, work.secrets.open(row.token_sealed));
}
