import test from 'ava';
import { rootToken } from '../support/app.ts';
import { withReceiver } from '../support/hook-receiver.ts';
import { withMerging } from '../support/merge-scene.ts';

const { holder, scene, call } = withMerging();
const receiver = withReceiver();

interface Body {
  object_kind: string;
  user: { username: string };
  object_attributes: { id: number; action: string; state: string; merge_when_build_succeeds: boolean };
}

test.serial(
  'the wish for an automatic merge, another one and its end are told to hooks as changes',
  async (t) => {
    const { app } = holder;
    await app.rows('update settings set local_requests_allowed = true');
    const at = await scene();
    const { project } = at;
    const canceller = await app.make.member(project, 'developer');
    const hook = { url: receiver.url('/requests'), push_events: false, merge_requests_events: true };
    const made = await app.call('POST', `/api/v3/projects/${project.id}/hooks`, {
      as: rootToken,
      json: hook,
    });
    t.is(made.status, 201);
    await app.call('POST', `/api/v3/projects/${project.id}/statuses/${at.side}`, {
      as: project.owner.token,
      form: { state: 'running', ref: 'side', name: 'outside' },
    });
    const wish = { form: { merge_when_build_succeeds: 'true' } };
    t.is((await call(at, '/merge', wish)).status, 200);
    t.is((await call(at, '/merge', wish)).status, 200);
    const cancelled = await call(at, '/cancel_merge_when_build_succeeds', { as: canceller.token });
    t.is(cancelled.status, 200);
    await app.runTasks();
    await app.runAllTasks();
    const told = receiver
      .at<Body>('/requests')
      .map(({ body: { object_kind: kind, user, object_attributes } }) => {
        const { id, action, state, merge_when_build_succeeds: waits } = object_attributes;
        return { kind, by: user.username, id, action, state, waits };
      });
    const change = { kind: 'merge_request', id: at.id, action: 'update', state: 'opened' };
    const set = { ...change, by: project.owner.username, waits: true };
    t.deepEqual(told, [set, set, { ...change, by: canceller.username, waits: false }]);
  },
);
