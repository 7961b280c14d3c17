import { client as callbackClient, done, makeProject, many } from './callbacks-client.ts';
import { clientTest, type Place } from './client-test.ts';
import { client, many as listed, one, refused } from './forms-client.ts';
import { send, statusOf } from './json-client.ts';

async function makeIssue(place: Place): Promise<{ id: number; issue_id: number }> {
  const { id } = await makeProject(place);
  const issue = await send(place, 'post', `projects/${id}/issues`, { title: 'Rain' });
  return { id, issue_id: issue.body.id };
}

clientTest('gitlab: notes of issues', async (t, place) => {
  const { notes, projects } = callbackClient(place);
  const { id, issue_id } = await makeIssue(place);
  const made = await done(notes, 'create', id, issue_id, { body: 'Wet & ü' });
  t.like(made, { body: 'Wet & ü', attachment: null, system: false, noteable_id: issue_id });
  await done(notes, 'create', id, issue_id, { body: 'Very' });
  const found = await many(projects.issues.notes, 'all', id, issue_id);
  t.deepEqual(
    found.map(({ body }) => body),
    ['Wet & ü', 'Very'],
  );
  t.deepEqual(found[0], made);
});

clientTest('node-gitlab: notes of issues', async (t, place) => {
  const { issues } = client(place);
  const { id, issue_id } = await makeIssue(place);
  const made = await one(issues.createNote({ id, issue_id, body: ':thumbsup:' }));
  t.like(made, { body: 'thumbsup', upvote: true, downvote: false });
  const { id: note_id } = await one(issues.createNote({ id, issue_id, body: 'Wet' }));
  const changed = await one(issues.updateNote({ id, issue_id, note_id, body: 'Dry' }));
  t.like(changed, { id: note_id, body: 'Dry', upvote: false });
  t.deepEqual(await one(issues.getNote({ id, issue_id, note_id })), changed);
  t.deepEqual(await listed(issues.listNotes({ id, issue_id })), [made, changed]);
  await refused(t, issues.createNote({ id, issue_id, body: '' }), 400);
  await refused(t, issues.getNote({ id, issue_id, note_id: 0 }), 404);
});

clientTest('gl-got: notes of snippets are written, changed and removed', async (t, place) => {
  const { id } = await makeProject(place);
  await send(place, 'put', `projects/${id}`, { snippets_enabled: true });
  const given = { title: 'A', file_name: 'a.rb', code: 'puts 1', visibility_level: 10 };
  const snippet = await send(place, 'post', `projects/${id}/snippets`, given);
  const path = `projects/${id}/snippets/${snippet.body.id}/notes`;
  const made = await send(place, 'post', path, { body: 'Why?' });
  t.is(made.statusCode, 201);
  t.like(made.body, { noteable_type: 'Snippet', noteable_id: snippet.body.id });
  const note = `${path}/${made.body.id}`;
  t.is((await send(place, 'put', note, { body: 'So' })).body.body, 'So');
  t.deepEqual((await send(place, 'get', path)).body as unknown, [(await send(place, 'get', note)).body]);
  t.is((await send(place, 'delete', note)).statusCode, 200);
  t.is(await statusOf(place, 'delete', note), 404);
});
