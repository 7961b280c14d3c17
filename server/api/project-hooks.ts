import { createHook, readHookAddress, removeHook, updateHook } from '../actions/hooks.ts';
import { AppError, notFound } from '../errors.ts';
import { onProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { pathId, pathText, readId, type Values } from '../http/params.ts';
import {
  HookDeliveryJson,
  ProjectHookJson,
  presentProjectHook,
  presentRemovedProjectHook,
  RemovedProjectHookJson,
} from '../present/hook.ts';
import { type HookRow, listHooks } from '../queries/hooks.ts';
import { listDeliveries, requireHook } from './hook-lookup.ts';
import { hookParams, readHookFlags } from './hook-params.ts';

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/hooks',
  summary: 'Hooks of the project',
  access: onProject('admin_project'),
  returns: ProjectHookJson,
  list: true,
  async run({ project, page, work }) {
    return (await paginate<HookRow>(work.em, listHooks(project.id), page)).map(presentProjectHook);
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/hooks/:hook_id',
  summary: 'One hook of the project',
  access: onProject('admin_project'),
  params: { hook_id: pathId() },
  returns: ProjectHookJson,
  async run({ project, params, work }) {
    return presentProjectHook(await requireHook(work, project.id, params.hook_id));
  },
});

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/hooks',
  summary: 'Makes a hook that is told of what happens in the project',
  access: onProject('admin_project'),
  params: hookParams,
  returns: ProjectHookJson,
  async run({ project, params, work }) {
    return presentProjectHook(await createHook(work, project.id, readAttributes(params)));
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/hooks/:hook_id',
  summary: 'Changes a hook; an address that comes back as it is shown keeps its user and password',
  access: onProject('admin_project'),
  params: { hook_id: pathId(), ...hookParams },
  returns: ProjectHookJson,
  async run({ project, params, work }) {
    const { id } = await requireHook(work, project.id, params.hook_id);
    const { hook_id: _id, ...given } = params;
    const changed = await updateHook(work, id, readAttributes(given));
    if (!changed) throw notFound();
    return presentProjectHook(changed);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/hooks/:hook_id',
  summary: 'Removes a hook, with what waits to be sent to it',
  access: onProject('admin_project'),
  params: { hook_id: pathText() },
  returns: RemovedProjectHookJson,
  async run({ project, params, work }) {
    const id = readId(params.hook_id);
    const removed = id === null ? null : await removeHook(work, project.id, id);
    if (!removed) throw notFound(`Error deleting hook ${params.hook_id}`);
    return presentRemovedProjectHook(removed);
  },
});

const deliveries = endpoint({
  method: 'GET',
  path: '/projects/:id/hooks/:hook_id/deliveries',
  summary: 'What was sent to the hook of late, and what waits to be sent',
  access: onProject('admin_project'),
  params: { hook_id: pathId() },
  returns: HookDeliveryJson,
  list: true,
  async run({ project, params, page, work }) {
    return listDeliveries(work, await requireHook(work, project.id, params.hook_id), page);
  },
});

export const endpoints: Endpoint[] = [list, get, create, update, remove, deliveries];

function readAttributes(params: Values<typeof hookParams>) {
  const address = readHookAddress(params.url);
  if (!address) throw new AppError({ status: 422, message: 'Invalid url given' });
  return { address, token: params.token, flags: readHookFlags(params) };
}
