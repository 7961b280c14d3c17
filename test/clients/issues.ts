import { client as callbackClient, done, handed, makeProject, many } from './callbacks-client.ts';
import { clientTest } from './client-test.ts';
import { client, many as listed, one, refused } from './forms-client.ts';
import { send, statusOf } from './json-client.ts';

clientTest('gitlab: issues', async (t, place) => {
  const { issues } = callbackClient(place);
  const { id } = await makeProject(place);
  const made = await done(issues, 'create', id, { title: 'Rain', description: 'Wet', labels: 'bug, ü' });
  t.like(made, { iid: 1, project_id: id, title: 'Rain', description: 'Wet', state: 'opened' });
  t.deepEqual(made.labels, ['bug', 'ü']);
  t.is(await handed(issues, 'create', id, { title: '' }), true, 'how it tells of a refusal');
  t.deepEqual(await done(issues, 'show', id, made.id), made);
  const edited = await done(issues, 'edit', id, made.id, { state_event: 'close', title: 'Snow', labels: '' });
  t.like(edited, { id: made.id, title: 'Snow', description: 'Wet', state: 'closed', labels: [] });
  t.true((await many(issues, 'all')).some((issue) => issue.id === made.id));
  t.is(await handed(issues, 'remove', id, made.id), true);
  t.false((await many(issues, 'all')).some((issue) => issue.id === made.id));
});

clientTest('node-gitlab: issues', async (t, place) => {
  const { issues } = client(place);
  const { id } = await makeProject(place);
  const made = await one(issues.create({ id, title: 'Rain', labels: 'bug' }));
  t.like(made, { iid: 1, title: 'Rain', labels: ['bug'], state: 'opened' });
  await refused(t, issues.create({ id, title: 'Rain', labels: 'a?' }), 400);
  const issue_id = made.id;
  const closed = await one(issues.update({ id, issue_id, state_event: 'close' }));
  t.is(closed.state, 'closed');
  t.deepEqual(await issues.get({ id, issue_id }), closed);
  await issues.create({ id, title: 'Snow' });
  t.deepEqual(await listed(issues.list({ id, state: 'closed' })), [closed]);
  t.is((await listed(issues.list({ id }))).length, 2);
  await refused(t, issues.get({ id, issue_id: 0 }), 404);
});

clientTest('gl-got: issues are narrowed, subscribed to, moved and removed', async (t, place) => {
  const [{ id }, other] = [await makeProject(place), await makeProject(place)];
  const path = `projects/${id}/issues`;
  const milestone = (await send(place, 'post', `projects/${id}/milestones`, { title: 'v1' })).body;
  const given = { title: 'Rain', labels: 'bug', milestone_id: milestone.id, assignee_id: 1 };
  const made = await send(place, 'post', path, { ...given, created_at: '2016-03-11T03:45:40Z' });
  t.is(made.statusCode, place.createdAs200);
  t.like(made.body, { created_at: '2016-03-11T03:45:40.000Z', milestone, assignee: { id: 1 } });
  for (const query of ['labels=bug,none', 'milestone=v1', 'iid=1', 'order_by=updated_at&sort=asc']) {
    t.deepEqual((await send(place, 'get', `${path}?${query}`)).body as unknown, [made.body], query);
  }
  t.deepEqual((await send(place, 'get', `${path}?labels=none`)).body as unknown, []);
  const target = `${path}/${made.body.id}`;
  t.is((await send(place, 'delete', `${target}/subscription`)).body.subscribed, false);
  t.is(await statusOf(place, 'delete', `${target}/subscription`), 304);
  t.is((await send(place, 'post', `${target}/subscription`)).statusCode, 201);
  t.is(await statusOf(place, 'post', `${target}/move`, { to_project_id: id }), 400);
  const moved = await send(place, 'post', `${target}/move`, { to_project_id: other.id });
  t.is(moved.statusCode, 201);
  t.like(moved.body, { project_id: other.id, title: 'Rain', state: 'opened' });
  t.is((await send(place, 'get', target)).body.state, 'closed');
  t.is((await send(place, 'delete', target)).statusCode, 200);
  t.is(await statusOf(place, 'delete', target), 404);
});
