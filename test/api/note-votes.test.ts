import test from 'ava';
import { VotesAmongComments } from '../../server/migrations/20261206-votes-among-comments.ts';
import { withApp } from '../support/app.ts';
import { type NoteScene, NotesOf, noteScenes } from '../support/notes.ts';

const holder = withApp({ poolSize: 8 });
const scene = noteScenes(() => holder.app);

async function countsOf({ row }: NoteScene): Promise<unknown[]> {
  const { user_notes_count, upvotes, downvotes } = await row();
  return [user_notes_count, upvotes, downvotes];
}

test('a picture alone is a vote, one of a kind for each user', async (t) => {
  const { app } = holder;
  const made = await scene('merge_requests', { visibility: 'public' });
  const { notes, project } = made;
  const other = await app.make.user();
  const up = await notes.post(':thumbsup:');
  t.is(up.status, 201);
  t.like(up.body, { body: 'thumbsup', upvote: true, downvote: false, system: false });
  t.like((await notes.post(' :-1:\n')).body, { body: 'thumbsdown', upvote: false, downvote: true });
  t.like((await notes.post(':heart:')).body, { body: 'heart', upvote: false, downvote: false });
  t.like((await notes.post(':+1:', other)).body, { body: 'thumbsup', upvote: true });
  const again = await notes.post(':+1:');
  t.is(again.status, 400);
  t.deepEqual(again.body as unknown, { message: { body: ['has already been taken'] } });
  for (const text of [':nothing_of_that_kind:', ':+1: yes', ':+1: :+1:', 'a :+1:', '+1', '::']) {
    t.like((await notes.post(text)).body, { body: text, upvote: false });
  }
  t.deepEqual(await countsOf(made), [10, 2, 1]);
  t.is((await app.rows('select 1 from events where project_id = $1', [project.id])).length, 6);
  t.like((await notes.put(up.body.id, 'x')).body, { body: 'thumbsup', upvote: true });
  t.is((await notes.remove(up.body.id, other)).status, 403);
  t.is((await notes.remove(up.body.id)).status, 200);
  t.deepEqual(await countsOf(made), [9, 1, 1]);
  t.is((await notes.post(':thumbsup:')).status, 201);
  const [down] = (await notes.list()).body.filter(({ downvote }) => downvote);
  await notes.remove(down?.id ?? 0);
  t.deepEqual(await countsOf(made), [9, 2, 0]);
});

test('issues have votes that count among their comments alone, snippets and edited comments none', async (t) => {
  const issue = await scene();
  const vote = await issue.notes.post(':thumbsup:');
  t.like(vote.body, { upvote: true });
  t.is((await issue.row()).user_notes_count, 1);
  t.is((await issue.notes.post(':thumbsup:')).status, 400);
  t.is((await issue.row()).user_notes_count, 1);
  await issue.notes.remove(vote.body.id);
  t.is((await issue.row()).user_notes_count, 0);
  const comment = await issue.notes.post('x');
  t.like((await issue.notes.put(comment.body.id, ':thumbsup:')).body, { body: ':thumbsup:', upvote: false });
  const snippet = await scene('snippets');
  t.like((await snippet.notes.post(':thumbsup:')).body, { body: ':thumbsup:', upvote: false });
});

test('fifty notes of one issue at once, and as many votes of one user', async (t) => {
  const { app } = holder;
  const { project, notes, row } = await scene();
  const request = await scene('merge_requests');
  const each = Array.from({ length: 50 }, (_, index) => index);
  const posted = await Promise.all(each.map((index) => notes.post(`note ${index} #1`)));
  t.true(posted.every(({ status }) => status === 201));
  const { body } = await notes.list(undefined, { per_page: '100' });
  t.deepEqual(body.map((note) => note.body).sort(), each.map((index) => `note ${index} #1`).sort());
  t.is((await row()).user_notes_count, 50);
  t.is((await app.rows('select 1 from events where project_id = $1', [project.id])).length, 50);
  const votes = await Promise.all(each.map(() => request.notes.post(':+1:')));
  t.is(votes.filter(({ status }) => status === 201).length, 1);
  t.is(votes.filter(({ status }) => status === 400).length, 49);
  t.deepEqual(await countsOf(request), [1, 1, 0]);
  const gone = await Promise.all(posted.map(({ body: { id } }) => notes.remove(id)));
  t.true(gone.every(({ status }) => status === 200));
  t.is((await row()).user_notes_count, 0);
});

// Before the others, whose votes it would count once more.
test.serial('votes that were given before they counted are counted', async (t) => {
  const { app } = holder;
  const kinds = ['issues', 'merge_requests'] as const;
  const voted = await Promise.all(kinds.map((kind) => scene(kind)));
  const unvoted = await Promise.all(kinds.map((kind) => scene(kind)));
  for (const { notes } of [...voted, ...unvoted]) await notes.post('x');
  for (const { notes } of voted) for (const text of [':+1:', ':heart:']) await notes.post(text);
  for (const kind of kinds) await app.rows(`update ${kind} set user_notes_count = 1`);
  const { em, config } = app.services.orm;
  const migration = new VotesAmongComments(em.getDriver(), config);
  migration.up();
  for (const query of migration.getQueries()) await app.rows(String(query));
  const counts = async (scenes: NoteScene[]) =>
    Promise.all(scenes.map(async ({ row }) => (await row()).user_notes_count));
  t.deepEqual(await counts(voted), [3, 3]);
  t.deepEqual(await counts(unvoted), [1, 1]);
});

test('two issues that are named in each other at the same time do not wait for each other', async (t) => {
  const { app } = holder;
  const { project, notes } = await scene();
  const second = await app.make.issue(project);
  const other = new NotesOf(app, project, { kind: 'issues', id: second.id });
  const posted = await Promise.all(
    Array.from({ length: 40 }, (_, index) => (index % 2 ? notes.post('#2') : other.post('#1'))),
  );
  t.deepEqual(
    posted.filter(({ status }) => status !== 201),
    [],
  );
  for (const place of [notes, other]) {
    const { body } = await place.list(undefined, { per_page: '100' });
    t.is(body.filter(({ system }) => system).length, 1);
    t.is(body.length, 21);
  }
});
