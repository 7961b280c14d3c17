import { createHook, readHookAddress, removeHook } from '../actions/hooks.ts';
import { invalid } from '../errors.ts';
import { sendTest } from '../hooks/deliver.ts';
import { systemEvent } from '../hooks/enqueue.ts';
import { admin } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { pathId } from '../http/params.ts';
import {
  HookDeliveryJson,
  HookTestJson,
  presentRemovedSystemHook,
  presentSystemHook,
  RemovedSystemHookJson,
  SystemHookJson,
} from '../present/hook.ts';
import { type HookRow, listHooks } from '../queries/hooks.ts';
import { listDeliveries, requireHook } from './hook-lookup.ts';
import { hookParams, readHookFlags } from './hook-params.ts';

const list = endpoint({
  method: 'GET',
  path: '/hooks',
  summary: 'Hooks of the whole system',
  access: admin(),
  returns: SystemHookJson,
  list: true,
  async run({ page, work }) {
    return (await paginate<HookRow>(work.em, listHooks(null), page)).map(presentSystemHook);
  },
});

const create = endpoint({
  method: 'POST',
  path: '/hooks',
  summary: 'Makes a hook that is told of what happens to users, groups, projects and keys',
  access: admin(),
  params: hookParams,
  returns: SystemHookJson,
  async run({ params, work }) {
    const address = readHookAddress(params.url);
    if (!address) throw invalid({ url: ['must be a valid URL'] });
    const given = { address, token: params.token, flags: readHookFlags(params) };
    return presentSystemHook(await createHook(work, null, given));
  },
});

const sample = {
  event_name: 'project_create',
  name: 'Ruby',
  path: 'ruby',
  project_id: 1,
  owner_name: 'Someone',
  owner_email: 'someone@example.com',
};

const test = endpoint({
  method: 'GET',
  path: '/hooks/:id',
  summary: 'Sends a message to the hook, to try it, and answers what was sent',
  access: admin(),
  params: { id: pathId() },
  returns: HookTestJson,
  async run({ params, work }) {
    const { id } = await requireHook(work, null, params.id);
    await sendTest(work, { hookId: id, event: systemEvent, body: sample });
    return sample;
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/hooks/:id',
  summary: 'Removes a hook; one that is not there is no fault',
  access: admin(),
  params: { id: pathId() },
  returns: RemovedSystemHookJson.nullable(),
  async run({ params, work }) {
    const removed = await removeHook(work, null, params.id);
    return removed && presentRemovedSystemHook(removed);
  },
});

const deliveries = endpoint({
  method: 'GET',
  path: '/hooks/:id/deliveries',
  summary: 'What was sent to the hook of late, and what waits to be sent',
  access: admin(),
  params: { id: pathId() },
  returns: HookDeliveryJson,
  list: true,
  async run({ params, page, work }) {
    return listDeliveries(work, await requireHook(work, null, params.id), page);
  },
});

export const endpoints: Endpoint[] = [list, create, test, remove, deliveries];
