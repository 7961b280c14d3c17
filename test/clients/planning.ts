import {
  client as callbackClient,
  done,
  type Handed,
  handed,
  makeProject,
  many,
} from './callbacks-client.ts';
import { clientTest } from './client-test.ts';
import { client, one, refused } from './forms-client.ts';
import { send, statusOf } from './json-client.ts';

clientTest('gitlab: labels and milestones', async (t, place) => {
  const { labels, projects } = callbackClient(place);
  const { id } = await makeProject(place);
  const label = { name: 'bug', color: '#ff0000' };
  t.like(await done(labels, 'create', id, { ...label }), { ...label, description: null });
  t.is(await handed(labels, 'create', id, { ...label }), true, 'how it tells of a refusal');
  t.like((await many(projects.labels, 'all', id))[0], { ...label, open_issues_count: 0 });
  const { milestones } = projects;
  const made = await done(milestones, 'add', id, '1.0', 'First', '2016-12-25');
  t.like(made, { iid: 1, title: '1.0', description: 'First', due_date: '2016-12-25', state: 'active' });
  const closed = await done(milestones, 'update', id, made.id, '1.1', 'Last', '2017-01-02', 'close');
  t.like(closed, { title: '1.1', description: 'Last', due_date: '2017-01-02', state: 'closed' });
  t.deepEqual(await done(milestones, 'show', id, made.id), closed);
  t.deepEqual(await many(milestones, 'all', id), [closed]);
});

clientTest('node-gitlab: milestones', async (t, place) => {
  const { milestones } = client(place);
  const { id } = await makeProject(place);
  const made = await one(milestones.create({ id, title: '1.0', due_date: '2016-12-25' }));
  t.like(made, { iid: 1, title: '1.0', due_date: '2016-12-25', state: 'active' });
  await refused(t, milestones.create({ id, title: '1.0' }), 400);
  const milestone_id = made.id;
  const closed = await one(milestones.update({ id, milestone_id, state_event: 'close' }));
  t.is(closed.state, 'closed');
  t.deepEqual(await milestones.get({ id, milestone_id }), closed);
  t.deepEqual(await milestones.list({ id }), [closed]);
  t.deepEqual(await milestones.listIssues({ id, milestone_id }), []);
});

clientTest('gl-got: labels are renamed, removed and subscribed to', async (t, place) => {
  const { id } = await makeProject(place);
  const path = `projects/${id}/labels`;
  const label = { name: 'a bug', color: '#ff0000' };
  t.is((await send(place, 'post', path, label)).statusCode, place.createdAs200);
  t.is(await statusOf(place, 'post', path, label), 409);
  const renamed = await send(place, 'put', path, { name: 'a bug', new_name: 'ü' });
  t.like(renamed.body, { name: 'ü', color: '#ff0000' });
  const subscription = `${path}/%C3%BC/subscription`;
  const subscribed = await send(place, 'post', subscription);
  t.is(subscribed.statusCode, 201);
  t.is(subscribed.body.subscribed, true);
  t.is(await statusOf(place, 'post', subscription), 304);
  t.is((await send(place, 'delete', subscription)).body.subscribed, false);
  t.like((await send(place, 'delete', path, { name: 'ü' })).body, { title: 'ü', project_id: id });
  t.is(await statusOf(place, 'delete', path, { name: 'ü' }), 404);
});

clientTest('gl-got: snippets of a project and of oneself', async (t, place) => {
  const { id } = await makeProject(place);
  await send(place, 'put', `projects/${id}`, { snippets_enabled: true });
  const words = { title: 'A', file_name: 'a.rb' };
  const inProject = { ...words, code: 'puts 1', visibility_level: 20 };
  const personal = { ...words, content: 'puts 1' };
  for (const [path, given] of [
    [`projects/${id}/snippets`, inProject],
    ['snippets', personal],
  ] as const) {
    const made = await send(place, 'post', path, given);
    t.is(made.statusCode, 201);
    const target = `${path}/${made.body.id}`;
    t.like((await send(place, 'put', target, { title: 'B' })).body, { ...words, title: 'B' });
    const listed: unknown = (await send(place, 'get', path)).body;
    t.true((listed as Handed[]).some((one) => one.id === made.body.id));
    t.is((await send(place, 'delete', target)).statusCode, 200);
    t.is((await send(place, 'delete', target)).statusCode, 200);
    t.is(await statusOf(place, 'get', target), 404);
  }
});
