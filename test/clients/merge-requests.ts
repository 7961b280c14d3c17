import { client as callbackClient, done, handed, makeProject, many } from './callbacks-client.ts';
import { clientTest, type Place } from './client-test.ts';
import { client, many as listed, one, refused } from './forms-client.ts';
import { send, statusOf } from './json-client.ts';

/** A project with a branch `topic` that has a file more than master. @returns its id. */
async function makeChanged(place: Place): Promise<number> {
  const { id } = await makeProject(place);
  const files = `projects/${id}/repository/files`;
  const file = { file_path: 'a.txt', content: 'one\n', commit_message: 'Begin' };
  await send(place, 'post', files, { ...file, branch_name: 'master' });
  await send(place, 'post', `projects/${id}/repository/branches`, { branch_name: 'topic', ref: 'master' });
  const more = { file_path: 'b.txt', content: 'two\n', commit_message: 'Add b.txt' };
  await send(place, 'post', files, { ...more, branch_name: 'topic' });
  return id;
}

async function filesOf(place: Place, id: number, branch: string): Promise<unknown[]> {
  const found = (await send(place, 'get', `projects/${id}/repository/tree?ref_name=${branch}`)).body;
  return (found as unknown as { name: string }[]).map(({ name }) => name);
}

clientTest('gitlab: merge requests', async (t, place) => {
  const { merge_requests: requests } = callbackClient(place).projects;
  const id = await makeChanged(place);
  const made = await done(requests, 'add', id, 'topic', 'master', 1, 'Two & ü');
  t.like(made, { iid: 1, project_id: id, title: 'Two & ü', state: 'opened', merge_status: 'can_be_merged' });
  t.is(await handed(requests, 'add', id, 'topic', 'master', 1, 'Again'), true, 'how it tells of a refusal');
  t.deepEqual(await done(requests, 'show', id, made.id), made);
  const edited = await done(requests, 'update', id, made.id, { description: 'Wet', labels: 'bug' });
  t.like(edited, { id: made.id, title: 'Two & ü', description: 'Wet', labels: ['bug'] });
  const comment = await done(requests, 'comment', id, made.id, 'Why?');
  t.like(comment, { note: 'Why?', author: { id: 1 } });
  t.deepEqual(
    (await many(requests, 'list', id, { state: 'opened' })).map(({ iid }) => iid),
    [1],
  );
  const merged = await done(requests, 'merge', id, made.id, { merge_commit_message: 'Take it' });
  t.like(merged, { id: made.id, state: 'merged' });
  t.is(await handed(requests, 'merge', id, made.id, {}), null);
  t.deepEqual(await many(requests, 'list', id, { state: 'opened' }), []);
  t.deepEqual(await filesOf(place, id, 'master'), ['a.txt', 'b.txt']);
});

clientTest('node-gitlab: merge requests', async (t, place) => {
  const { mergeRequests } = client(place);
  const id = await makeChanged(place);
  const branches = { id, source_branch: 'topic', target_branch: 'master' };
  const made = await one(mergeRequests.create({ ...branches, title: 'Two' }));
  t.like(made, { iid: 1, title: 'Two', source_branch: 'topic', target_branch: 'master', state: 'opened' });
  await refused(t, mergeRequests.create({ ...branches, title: 'Two' }), 409);
  await refused(t, mergeRequests.create({ ...branches, source_branch: 'master', title: 'Two' }), 422);
  const merge_request_id = made.id;
  const at = { id, merge_request_id };
  const closed = await one(mergeRequests.update({ ...at, state_event: 'close' }));
  t.is(closed.state, 'closed');
  await refused(t, mergeRequests.merge({ ...at }), 405);
  t.deepEqual(await listed(mergeRequests.list({ id, state: 'closed' })), [closed]);
  await mergeRequests.update({ ...at, state_event: 'reopen' });
  const note = await one(mergeRequests.createNote({ ...at, body: 'Why?' }));
  const changed = await one(mergeRequests.updateNote({ ...at, note_id: note.id, body: 'So' }));
  t.deepEqual(await one(mergeRequests.getNote({ ...at, note_id: note.id })), changed);
  const notes = await listed(mergeRequests.listNotes({ ...at }));
  t.true(notes.some(({ body }) => body === 'So'));
  const merged = await one(mergeRequests.merge({ ...at, should_remove_source_branch: true }));
  t.like(merged, { id: made.id, state: 'merged' });
  t.like(await one(mergeRequests.get({ ...at })), { state: 'merged' });
  await refused(t, mergeRequests.get({ id, merge_request_id: 0 }), 404);
});

clientTest('gl-got: merge requests are looked into, merged and removed', async (t, place) => {
  const id = await makeChanged(place);
  const path = `projects/${id}/merge_requests`;
  const given = { source_branch: 'topic', target_branch: 'master', title: 'Two', labels: 'bug' };
  const made = await send(place, 'post', path, given);
  t.is(made.statusCode, place.createdAs200);
  const target = `${path}/${made.body.id}`;
  const alike = `projects/${id}/merge_request/${made.body.id}`;
  t.deepEqual((await send(place, 'get', alike)).body, (await send(place, 'get', target)).body);
  const commits = (await send(place, 'get', `${target}/commits`)).body as unknown as { title: string }[];
  t.deepEqual(
    commits.map(({ title }) => title),
    ['Add b.txt'],
  );
  const { changes } = (await send(place, 'get', `${target}/changes`)).body;
  t.like(changes, [{ new_path: 'b.txt', new_file: true }]);
  t.is((await send(place, 'delete', `${target}/subscription`)).body.subscribed, false);
  t.is(await statusOf(place, 'delete', `${target}/subscription`), 304);
  t.deepEqual((await send(place, 'get', `${target}/closes_issues`)).body as unknown, []);
  t.is(await statusOf(place, 'put', `${target}/merge`, { sha: '0'.repeat(40) }), 409);
  const merged = await send(place, 'put', `${target}/merge`, { should_remove_source_branch: true });
  t.is(merged.body.state, 'merged');
  t.is(await statusOf(place, 'get', `projects/${id}/repository/branches/topic`), 404);
  t.deepEqual(await filesOf(place, id, 'master'), ['a.txt', 'b.txt']);
  t.is((await send(place, 'delete', target)).statusCode, 200);
  t.is(await statusOf(place, 'get', target), 404);
});
