import test from 'ava';
import { type Naming, noteReferences } from '../../server/actions/note-references.ts';
import { inTransaction } from '../../server/sql.ts';
import { withApp } from '../support/app.ts';
import { countStatements } from '../support/count-statements.ts';
import type { MadeProject, MadeUser } from '../support/make.ts';

const holder = withApp({ poolSize: 2 });

type Source = Naming['source'];

async function name(
  source: Source,
  author: MadeUser,
  text: string | null,
  noteId: number | null = null,
): Promise<void> {
  await inTransaction(holder.app.work, (work) =>
    noteReferences(work, { authorId: author.id, source, noteId, texts: [text] }),
  );
}

/** User names of whom the mentions of a thing, without its notes, name. */
async function mentioned(column: string, id: number): Promise<string[]> {
  const rows = await holder.app.rows<{ username: string }>(
    `select u.username from mentions m join users u on u.id = m.user_id
     where m.${column} = $1 order by u.id`,
    [id],
  );
  return rows.map(({ username }) => username);
}

async function notesOf(type: string, id: number): Promise<string[]> {
  const rows = await holder.app.rows<{ body: string }>(
    'select body from notes where noteable_type = $1 and noteable_id = $2 and system order by id',
    [type, id],
  );
  return rows.map(({ body }) => body);
}

async function note(
  project: MadeProject,
  type: 'Issue' | 'MergeRequest' | 'Snippet',
  id: number,
): Promise<number> {
  return holder.app.make.note(project, { type, id }, { author: project.owner });
}

test('users are named whatever the case, as long as they may read it', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const [guest, reporter, stranger, admin] = [
    await make.member(project, 'guest'),
    await make.member(project, 'reporter'),
    await make.user(),
    await make.user({ isAdmin: true }),
  ];
  const blocked = await make.user({ state: 'blocked' });
  const { id } = await holder.app.make.issue(project);
  const source: Source = { type: 'Issue', projectId: project.id, id };
  const text = `@${guest.username.toUpperCase()} @${stranger.username}, @${admin.username}. \`@${reporter.username}\` @${blocked.username} @nobody`;
  await name(source, project.owner, text);
  t.deepEqual(await mentioned('issue_id', id), [guest.username, admin.username]);
  await name(source, project.owner, `@${guest.username} and @${reporter.username}`);
  t.deepEqual(await mentioned('issue_id', id), [guest.username, reporter.username]);
  await name(source, project.owner, null);
  t.deepEqual(await mentioned('issue_id', id), []);
});

test('a note has mentions of its own beside those of its issue or merge request', async (t) => {
  const { make } = holder.app;
  const project = await make.project({ visibility: 'public' });
  const [one, two] = [await make.user(), await make.user()];
  const { id } = await holder.app.make.mergeRequest(project);
  const source: Source = { type: 'MergeRequest', projectId: project.id, id };
  const noteId = await note(project, 'MergeRequest', id);
  await name(source, one, `@${one.username}`);
  await name(source, one, `@${one.username} @${two.username}`, noteId);
  t.deepEqual(await mentioned('merge_request_id', id), [one.username, one.username, two.username]);
  t.deepEqual(await mentioned('note_id', noteId), [one.username, two.username]);
  await name(source, one, '', noteId);
  t.deepEqual(await mentioned('merge_request_id', id), [one.username]);
});

test('a group is named for its members, by those who may know of it; all for those of the project', async (t) => {
  const { app } = holder;
  const { make } = app;
  const project = await make.project({ visibility: 'internal' });
  const [member, one, external, stranger] = [
    await make.member(project, 'guest'),
    await make.user(),
    await make.user({ external: true }),
    await make.user(),
  ];
  const group = await make.group({ visibility: 'private' });
  await make.groupMember(group, one, 'guest');
  await make.groupMember(group, external, 'guest');
  const [{ path } = { path: '' }] = await app.rows<{ path: string }>(
    'select path from namespaces where id = $1',
    [group],
  );
  const { id } = await holder.app.make.issue(project);
  const source: Source = { type: 'Issue', projectId: project.id, id };
  await name(source, one, `@${path}`);
  t.deepEqual(await mentioned('issue_id', id), [one.username]);
  await name(source, stranger, `@${path}`);
  t.deepEqual(await mentioned('issue_id', id), []);
  await name(source, stranger, '@all');
  t.deepEqual(await mentioned('issue_id', id), [project.owner.username, member.username]);
});

test('a note on a private snippet names only those who see that; one on a commit, those who read code', async (t) => {
  const { make } = holder.app;
  const project = await make.project({ columns: { snippets_enabled: true } });
  const [guest, developer] = [await make.member(project, 'guest'), await make.member(project, 'developer')];
  const text = `@${guest.username} @${developer.username} @${project.owner.username}`;
  const snippet = await holder.app.make.snippet(project);
  const onSnippet = await note(project, 'Snippet', snippet);
  const source: Source = { type: 'Snippet', projectId: project.id, id: snippet };
  await name(source, project.owner, text, onSnippet);
  t.deepEqual(await mentioned('note_id', onSnippet), [project.owner.username]);
  await holder.app.rows('update snippets set visibility_level = 10 where id = $1', [snippet]);
  await name(source, project.owner, text, onSnippet);
  t.is((await mentioned('note_id', onSnippet)).length, 3);
  const onCommit = await note(project, 'Issue', 1);
  await name({ type: 'Commit', projectId: project.id, sha: 'a'.repeat(40) }, project.owner, text, onCommit);
  t.deepEqual(await mentioned('note_id', onCommit), [project.owner.username, developer.username]);
});

test('things that are named say so once for each source, and not of themselves', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const other = await make.project({ owner: project.owner });
  const [one, two, three] = [
    await holder.app.make.issue(project),
    await holder.app.make.issue(project),
    await holder.app.make.issue(other),
  ];
  const request = await holder.app.make.mergeRequest(project);
  const { owner } = project;
  const text = `#${one.iid} #${two.iid} ${other.fullPath.toUpperCase()}#1 !${request.iid} #99 nobody/nothing#1 #3000000000`;
  const issue: Source = { type: 'Issue', projectId: project.id, id: one.id };
  await name(issue, owner, text);
  await name(issue, owner, text);
  await name(issue, owner, text, await note(project, 'Issue', one.id));
  await name({ type: 'MergeRequest', projectId: project.id, id: request.id }, owner, text);
  const sha = 'c'.repeat(40);
  await name({ type: 'Commit', projectId: project.id, sha }, owner, text);
  await name({ type: 'Commit', projectId: project.id, sha }, owner, text);
  const snippet = await holder.app.make.snippet(project);
  await name({ type: 'Snippet', projectId: project.id, id: snippet }, owner, text);
  const path = project.fullPath;
  t.deepEqual(await notesOf('Issue', one.id), [
    `mentioned in merge request !${request.iid}`,
    `mentioned in commit ${sha}`,
    `mentioned in snippet $${snippet}`,
  ]);
  t.deepEqual(await notesOf('Issue', two.id), [
    `mentioned in issue #${one.iid}`,
    `mentioned in merge request !${request.iid}`,
    `mentioned in commit ${sha}`,
    `mentioned in snippet $${snippet}`,
  ]);
  t.deepEqual(await notesOf('Issue', three.id), [
    `mentioned in issue ${path}#${one.iid}`,
    `mentioned in merge request ${path}!${request.iid}`,
    `mentioned in commit ${path}@${sha}`,
    `mentioned in snippet ${path}$${snippet}`,
  ]);
  t.deepEqual(await notesOf('MergeRequest', request.id), [
    `mentioned in issue #${one.iid}`,
    `mentioned in commit ${sha}`,
    `mentioned in snippet $${snippet}`,
  ]);
});

test('nothing is told to things that the author may not read, and to none that is gone', async (t) => {
  const { app } = holder;
  const { make } = app;
  const author = await make.user();
  const project = await make.project({ visibility: 'public' });
  const hidden = await make.project();
  const off = await make.project({ visibility: 'public', columns: { issues_enabled: false } });
  const leaving = await make.project({ visibility: 'public', columns: { pending_delete: true } });
  const places = [hidden, off, leaving];
  const things = [];
  for (const place of places) things.push(await holder.app.make.issue(place));
  const gone = await holder.app.make.issue(project, { columns: { deleted_at: new Date() } });
  const source = await holder.app.make.issue(project, { author });
  const text = [...places.map(({ fullPath }) => `${fullPath}#1`), `#${gone.iid}`].join(' ');
  await name({ type: 'Issue', projectId: project.id, id: source.id }, author, text);
  for (const { id } of [...things, gone]) t.deepEqual(await notesOf('Issue', id), []);
});

test('who is changing a thing is not waited for, others see it changed', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const columns = { updated_at: new Date('2016-01-01') };
  const [one, busy, source] = [
    await holder.app.make.issue(project, { columns }),
    await holder.app.make.issue(project, { columns }),
    await holder.app.make.issue(project),
  ];
  await inTransaction(app.work, async (work) => {
    await work.em.execute(`select 1 from issues where id = ${busy.id} for update`);
    await name({ type: 'Issue', projectId: project.id, id: source.id }, project.owner, `#1 #2`);
  });
  const rows = await app.rows<{ id: number; is_old: boolean }>(
    `select id, updated_at < '2017-01-01' as is_old from issues where id = any($1) order by id`,
    [[one.id, busy.id]],
  );
  t.deepEqual(
    rows.map(({ is_old }) => is_old),
    [false, true],
  );
  t.deepEqual(await notesOf('Issue', busy.id), ['mentioned in issue #3']);
});

test.serial('two statements for whatever is named, of which there is a largest number', async (t) => {
  const { app } = holder;
  const project = await app.make.project({ visibility: 'public' });
  const source = await holder.app.make.issue(project);
  const texts: string[] = [];
  for (let count = 0; count < 105; count += 1) texts.push(`#${(await holder.app.make.issue(project)).iid}`);
  const users = Array.from({ length: 105 }, (_, index) => `@nobody${index}`).join(' ');
  const target: Source = { type: 'Issue', projectId: project.id, id: source.id };
  const few = await countStatements(() => name(target, project.owner, `#2 @${project.owner.username}`));
  const many = await countStatements(() =>
    name(target, project.owner, `${users} @${project.owner.username} ${texts.join(' ')}`),
  );
  t.is(many, few);
  t.deepEqual(await mentioned('issue_id', source.id), []);
  const [row] = await app.rows<{ count: string }>('select count(*) from notes where project_id = $1', [
    project.id,
  ]);
  t.is(Number(row?.count), 100);
});
