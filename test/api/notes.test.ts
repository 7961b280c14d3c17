import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import type { MadeProject, MadeUser } from '../support/make.ts';
import { everythingOn, makeParent, NotesOf, noteScenes, parents } from '../support/notes.ts';

const holder = withApp({ poolSize: 4 });

const scene = noteScenes(() => holder.app);

const types = { issues: 'Issue', snippets: 'Snippet', merge_requests: 'MergeRequest' };

for (const kind of parents) {
  test(`a note of ${kind} in full, through its whole life`, async (t) => {
    const { app } = holder;
    const { project, id, notes, row } = await scene(kind);
    await app.rows(`update ${kind} set updated_at = '2016-01-01' where id = $1`, [id]);
    const { status, body } = await notes.post('  Well *done*\n');
    t.is(status, 201);
    const { id: noteId, created_at, updated_at, author, ...rest } = body;
    t.deepEqual(rest, {
      body: '  Well *done*\n',
      attachment: null,
      system: false,
      upvote: false,
      downvote: false,
      noteable_id: id,
      noteable_type: types[kind],
    });
    t.like(author, { id: project.owner.id, username: project.owner.username });
    t.is(updated_at, created_at);
    t.is((await row()).updated_at?.toString(), new Date(created_at).toString());
    if (kind !== 'snippets') t.is((await row()).user_notes_count, 1);
    t.deepEqual((await notes.list()).body, [body]);
    t.deepEqual((await notes.get(noteId)).body, body);
    const changed = await notes.put(noteId, 'Better');
    t.is(changed.status, 200);
    t.like(changed.body, { id: noteId, body: 'Better', created_at });
    t.deepEqual((await notes.get(noteId)).body, changed.body);
    const removed = await notes.remove(noteId);
    t.is(removed.status, 200);
    t.deepEqual(removed.body, changed.body);
    t.is((await notes.remove(noteId)).status, 404);
    t.deepEqual((await notes.list()).body, []);
    if (kind !== 'snippets') t.is((await row()).user_notes_count, 0);
  });

  test(`the activity of the project tells of notes of ${kind} while they are there`, async (t) => {
    const { app } = holder;
    const { project, id, notes } = await scene(kind);
    const { body } = await notes.post('Hm');
    const path = `/api/v3/projects/${project.id}/events`;
    const [event, ...others] = (await app.call<Record<string, unknown>[]>('GET', path, { as: rootToken }))
      .body;
    t.deepEqual(others, []);
    t.like(event, { action_name: 'commented on', target_type: 'Note', target_id: body.id });
    t.like(event?.note, {
      id: body.id,
      body: 'Hm',
      noteable_id: id,
      noteable_type: types[kind],
      upvote: false,
    });
    await notes.remove(body.id);
    t.deepEqual((await app.call('GET', path, { as: rootToken })).body, []);
  });

  test(`what of ${kind} is not there, or not for the caller`, async (t) => {
    const { app } = holder;
    const { project, id, notes } = await scene(kind, { visibility: 'public' });
    const other = await app.make.project({ owner: project.owner, columns: everythingOn });
    const elsewhere = new NotesOf(app, other, { kind, id });
    const { body: note } = await notes.post('x');
    const [stranger, outsider] = [await app.make.user(), await app.make.user()];
    const second = await makeParent(app, project, kind);
    const beside = new NotesOf(app, project, { kind, id: second });
    const [no, noNote] = [{ message: '404 Not found' }, { message: '404 Note Not Found' }];
    const forbidden = { message: '403 Forbidden' };
    const cases = [
      [await elsewhere.list(), 404, no],
      [await elsewhere.post('x'), 404, no],
      [await elsewhere.get(note.id), 404, no],
      [await elsewhere.list(outsider), 404, { message: '404 Project Not Found' }],
      [await beside.get(note.id), 404, noNote],
      [await beside.put(note.id, 'y'), 404, noNote],
      [await beside.remove(note.id), 404, noNote],
      [await notes.get(note.id + 1_000_000), 404, noNote],
      [await notes.post(' '), 400, { message: '400 (Bad request) "body" not given' }],
      [await elsewhere.post(''), 400, { message: '400 (Bad request) "body" not given' }],
      [await notes.put(note.id, ''), 400, { message: '400 (Bad request) "body" not given' }],
      [await notes.post('x'.repeat(65_537)), 400, undefined],
      [await notes.post('a\0b'), 400, { message: { body: ['is invalid'] } }],
      [await notes.put(note.id, 'y', stranger), 403, forbidden],
      [await notes.remove(note.id, stranger), 403, forbidden],
      [await notes.post('Me too', stranger), 201, undefined],
    ] as const;
    for (const [answer, status, body] of cases) {
      t.is(answer.status, status, JSON.stringify(answer.body));
      if (body) t.deepEqual(answer.body as unknown, body);
    }
    t.is((await notes.get(note.id)).body.body, 'x');
  });
}

test('masters change and remove what others said, others only what they said themselves', async (t) => {
  const { app } = holder;
  const { project, notes } = await scene();
  const [master, developer, guest] = [
    await app.make.member(project, 'master'),
    await app.make.member(project, 'developer'),
    await app.make.member(project, 'guest'),
  ];
  const { body } = await notes.post('x', guest);
  t.is((await notes.put(body.id, 'y', developer)).status, 403);
  t.is((await notes.put(body.id, 'y', guest)).status, 200);
  const changed = await notes.put(body.id, 'z', master);
  t.like(changed.body, { body: 'z', author: { id: guest.id } });
  t.is((await notes.remove(body.id, developer)).status, 403);
  t.is((await notes.remove(body.id, master)).status, 200);
});

test('a parent that the caller may not read', async (t) => {
  const { app } = holder;
  const { project, notes, id } = await scene('snippets');
  const member = await app.make.member(project, 'master');
  const { body } = await notes.post('x');
  await app.rows('update snippets set visibility_level = 0 where id = $1', [id]);
  const [noNotes, noNote] = [{ message: '404 Notes Not Found' }, { message: '404 Note Not Found' }];
  t.deepEqual((await notes.list(member)).body as unknown, noNotes);
  for (const answer of [
    await notes.get(body.id, member),
    await notes.post('y', member),
    await notes.put(body.id, 'y', member),
    await notes.remove(body.id, member),
  ]) {
    t.is(answer.status, 404);
    t.deepEqual(answer.body as unknown, noNote);
  }
  t.is((await notes.list()).status, 200);
  t.is((await app.call('GET', notes.path, { as: rootToken })).status, 200);
  const off = await scene('issues', { columns: { issues_enabled: false } });
  t.deepEqual((await off.notes.list()).body as unknown, noNotes);
  t.deepEqual((await off.notes.post('x')).body as unknown, noNote);
});

test('nobody but people is told what is said of a private snippet', async (t) => {
  const { app } = holder;
  const { project, notes, id } = await scene('snippets');
  await app.rows('update snippets set visibility_level = 0 where id = $1', [id]);
  await app.rows(
    `insert into hooks (project_id, url, note_events) values ($1, 'http://127.0.0.1:1/', true)`,
    [project.id],
  );
  t.is((await notes.post('x')).status, 201);
  t.deepEqual(await app.rows('select 1 from events where project_id = $1', [project.id]), []);
  const told = () =>
    app.rows('select 1 from hook_deliveries d join hooks h on h.id = d.hook_id where h.project_id = $1', [
      project.id,
    ]);
  t.deepEqual(await told(), []);
  await app.rows('update snippets set visibility_level = 10 where id = $1', [id]);
  await notes.post('y');
  t.is((await told()).length, 1);
});

test('the activity tells nothing of what was removed, or made private', async (t) => {
  const { app } = holder;
  const project = await app.make.project({ columns: everythingOn });
  const as = project.owner.token;
  for (const kind of parents) {
    const kept = new NotesOf(app, project, { kind, id: await makeParent(app, project, kind) });
    await kept.post('stays');
    const id = await makeParent(app, project, kind);
    await new NotesOf(app, project, { kind, id }).post('goes');
    const path = `/api/v3/projects/${project.id}/${kind}/${id}`;
    const done = await (kind === 'snippets'
      ? app.call('PUT', path, { as, form: { visibility_level: '0' } })
      : app.call('DELETE', path, { as }));
    t.is(done.status, 200);
  }
  const issue = await app.call<{ id: number }>('POST', `/api/v3/projects/${project.id}/issues`, {
    as,
    form: { title: 'x' },
  });
  await app.call('DELETE', `/api/v3/projects/${project.id}/issues/${issue.body.id}`, { as });
  const events = await app.call<{ note?: { body: string } }[]>(
    'GET',
    `/api/v3/projects/${project.id}/events`,
    {
      as,
    },
  );
  t.deepEqual(
    events.body.map(({ note }) => note?.body),
    ['stays', 'stays', 'stays'],
  );
});

test('a removed issue has no notes', async (t) => {
  const { app } = holder;
  const { notes, id } = await scene();
  const { body } = await notes.post('x');
  await app.rows('update issues set deleted_at = now() where id = $1', [id]);
  for (const answer of [await notes.list(), await notes.get(body.id), await notes.post('y')]) {
    t.is(answer.status, 404);
    t.deepEqual(answer.body as unknown, { message: '404 Not found' });
  }
});

test('administrators and the owner of a personal project say when an issue was commented on', async (t) => {
  const { app } = holder;
  const { project, notes } = await scene();
  const master = await app.make.member(project, 'master');
  const created_at = '2015-03-04T05:06:07.000Z';
  t.is((await notes.post('late')).status, 201);
  t.is(
    (await notes.post('x', undefined, { created_at: '2015-03-04T05:06:07Z' })).body.created_at,
    created_at,
  );
  t.is((await notes.post(':heart:', undefined, { created_at })).body.created_at, created_at);
  t.not((await notes.post('x', master, { created_at })).body.created_at, created_at);
  const root = { ...project.owner, token: rootToken };
  t.is((await notes.post('x', root, { created_at })).body.created_at, created_at);
  const bad = await notes.post('x', undefined, { created_at: 'soon' });
  t.is(bad.status, 400);
  t.deepEqual(
    (await notes.list()).body.map(({ created_at: time }) => time === created_at),
    [true, true, true, false, false],
  );
  const request = await scene('merge_requests');
  t.not((await request.notes.post('x', undefined, { created_at })).body.created_at, created_at);
});

test('notes of the system stay as they are, and masters remove them', async (t) => {
  const { app } = holder;
  const { project, notes, id, row } = await scene();
  const master = await app.make.member(project, 'master');
  const noteId = await app.make.note(
    project,
    { type: 'Issue', id },
    { author: project.owner, columns: { system: true, body: 'Status changed to closed' } },
  );
  const changed = await notes.put(noteId, 'x', master);
  t.is(changed.status, 200);
  t.like(changed.body, { body: 'Status changed to closed', system: true });
  t.is((await notes.remove(noteId, master)).status, 200);
  t.is((await row()).user_notes_count, 0);
});

interface Crossing {
  from: NotesOf;
  to: NotesOf;
  hidden: MadeProject;
  issueId: number;
  author: MadeUser;
  reader: MadeUser;
}

/** An issue of a private project that names one of a public one. */
async function crossing(): Promise<Crossing> {
  const { app } = holder;
  const { notes: to, project } = await scene('issues', { visibility: 'public' });
  const hidden = await app.make.project({ owner: project.owner });
  const { id } = await app.make.issue(hidden);
  const from = new NotesOf(app, hidden, { kind: 'issues', id });
  const made = await from.post(`See ${project.fullPath}#1`);
  if (made.status !== 201) throw new Error(`no note: ${made.status}`);
  return { from, to, hidden, issueId: id, author: project.owner, reader: await app.make.user() };
}

test('where a thing is named is told to those who may see that', async (t) => {
  const { app } = holder;
  const { to, hidden, issueId, author, reader } = await crossing();
  await to.post('one');
  const seen = await to.list();
  t.deepEqual(
    seen.body.map(({ body, system }) => [body, system]),
    [
      [`mentioned in issue ${hidden.fullPath}#1`, true],
      ['one', false],
    ],
  );
  t.is(seen.headers.get('x-total'), '2');
  const [note] = seen.body;
  const unseen = await to.list(reader);
  t.deepEqual(
    unseen.body.map(({ body }) => body),
    ['one'],
  );
  t.is(unseen.headers.get('x-total'), '1');
  t.deepEqual((await to.get(note?.id ?? 0, reader)).body as unknown, { message: '404 Note Not Found' });
  t.is((await to.get(note?.id ?? 0)).status, 200);
  await app.rows('update issues set deleted_at = now() where id = $1', [issueId]);
  t.is((await to.list(author)).headers.get('x-total'), '1');
});

test('whoever leaves a project, or sees it switch off issues, sees no longer what it tells of', async (t) => {
  const { app } = holder;
  const { to, hidden, reader } = await crossing();
  const total = async () => (await to.list(reader)).headers.get('x-total');
  await app.rows('insert into project_members (project_id, user_id, access_level) values ($1, $2, 10)', [
    hidden.id,
    reader.id,
  ]);
  t.is(await total(), '1');
  await app.rows('update projects set issues_enabled = false where id = $1', [hidden.id]);
  t.is(await total(), '0');
  await app.rows('update projects set issues_enabled = true, pending_delete = true where id = $1', [
    hidden.id,
  ]);
  t.is((await app.call<unknown[]>('GET', to.path, { as: rootToken })).body.length, 0);
});

test('another text names others', async (t) => {
  const { app } = holder;
  const { project, notes, id } = await scene('issues', { visibility: 'public' });
  const [one, two] = [await app.make.user(), await app.make.user()];
  const second = await app.make.issue(project);
  const { body } = await notes.post(`@${one.username}`);
  const named = async () =>
    (await app.rows<{ user_id: number }>('select user_id from mentions where issue_id = $1', [id])).map(
      ({ user_id }) => user_id,
    );
  t.deepEqual(await named(), [one.id]);
  await notes.put(body.id, `@${two.username} #${second.iid}`);
  t.deepEqual(await named(), [two.id]);
  const other = new NotesOf(app, project, { kind: 'issues', id: second.id });
  t.deepEqual(
    (await other.list()).body.map((note) => note.body),
    ['mentioned in issue #1'],
  );
  t.is((await app.rows('select 1 from events where project_id = $1', [project.id])).length, 1);
  await notes.remove(body.id);
  t.deepEqual(await named(), []);
});
