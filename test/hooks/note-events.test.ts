import test from 'ava';
import { rootToken } from '../support/app.ts';
import { withReceiver } from '../support/hook-receiver.ts';
import type { MadeProject } from '../support/make.ts';
import { everythingOn, makeParent, NotesOf } from '../support/notes.ts';
import { withPushes } from '../support/pushes.ts';

const { holder, empty } = withPushes();
const receiver = withReceiver();

test.serial.before(async () => {
  await holder.app.rows('update settings set local_requests_allowed = true');
});

interface NoteBody {
  object_attributes: Record<string, unknown> & { id: number; st_diff: Record<string, unknown> | null };
  [key: string]: unknown;
}

async function hook(place: string, path: string, flags: Record<string, boolean> = {}): Promise<void> {
  const json = { url: receiver.url(path), ...flags };
  const made = await holder.app.call('POST', `/api/v3${place}/hooks`, { as: rootToken, json });
  if (made.status !== 201) throw new Error(`no hook: ${made.status}`);
}

async function comment(project: MadeProject, sha: string, json: Record<string, unknown>): Promise<void> {
  const path = `/api/v3/projects/${project.id}/repository/commits/${sha}/comments`;
  const made = await holder.app.call('POST', path, { as: project.owner.token, json });
  if (made.status !== 201) throw new Error(`no comment: ${made.status}`);
}

test.serial('a comment on a line is told once, to the hooks that asked', async (t) => {
  const { app } = holder;
  const { project, tree, url } = await empty();
  await tree.commit({ 'a.txt': 'one\ntwo\n' });
  const sha = await tree.commit({ 'a.txt': 'one\nTWO\n' }, 'Shout\n\nas one does');
  await tree.git('push', '--quiet', url, 'master');
  await hook(`/projects/${project.id}`, '/notes', { push_events: false, note_events: true });
  await hook(`/projects/${project.id}`, '/no-notes');
  await hook('', '/system', { note_events: true });
  const elsewhere = await app.make.project();
  await hook(`/projects/${elsewhere.id}`, '/elsewhere', { note_events: true });
  await comment(project, sha, { note: 'Why?', path: 'a.txt', line: 2, line_type: 'new' });
  await app.runTasks();
  await app.runAllTasks();
  const received = receiver.at<NoteBody>('/notes');
  t.is(received.length, 1);
  t.is(received[0]?.headers['x-gitlab-event'], 'Note Hook');
  const { object_attributes: told, project: block, repository, ...body } = received[0]?.body ?? t.fail();
  const web = `${app.url}/${project.fullPath}`;
  t.deepEqual(body, {
    object_kind: 'note',
    user: {
      name: `Name of ${project.owner.username}`,
      username: project.owner.username,
      avatar_url: (body.user as { avatar_url: string }).avatar_url,
    },
    project_id: project.id,
    commit: {
      id: sha,
      message: 'Shout\n\nas one does\n',
      timestamp: '2016-06-03T03:43:20-03:30',
      url: `${web}/commit/${sha}`,
      author: { name: 'Ada Lovelace', email: 'ada@example.org' },
    },
  });
  t.like(block, { web_url: web, path_with_namespace: project.fullPath });
  t.like(repository, { homepage: web });
  const { created_at, updated_at, id, ...attributes } = told;
  t.regex(String(created_at), /Z$/);
  t.is(updated_at, created_at);
  t.deepEqual(attributes, {
    note: 'Why?',
    noteable_type: 'Commit',
    author_id: project.owner.id,
    project_id: project.id,
    attachment: null,
    line_code: 'cfc7b4885384957ae445bc14914d4588f607651c_3_2',
    commit_id: sha,
    noteable_id: null,
    system: false,
    st_diff: {
      old_path: 'a.txt',
      new_path: 'a.txt',
      a_mode: '100644',
      b_mode: '100644',
      diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n',
      new_file: false,
      renamed_file: false,
      deleted_file: false,
    },
    updated_by_id: null,
    is_award: false,
    type: 'DiffNote',
    url: `${web}/commit/${sha}#note_${id}`,
  });
  const [system, ...more] = receiver.at<NoteBody>('/system');
  t.deepEqual([system?.body, more], [received[0]?.body, []]);
  t.is(system?.headers['x-gitlab-event'], 'System Hook');
  for (const path of ['/no-notes', '/elsewhere']) t.deepEqual(receiver.at(path), [], path);
});

test.serial('a comment on a whole commit has no place; one that is gone is told to nobody', async (t) => {
  const { app } = holder;
  const { project, tree, url } = await empty();
  const sha = await tree.commit({ a: '1' });
  await tree.git('push', '--quiet', url, 'master');
  await hook(`/projects/${project.id}`, '/whole', { push_events: false, note_events: true });
  await comment(project, 'master', { note: 'gone', path: 'a', line: 1, line_type: 'new' });
  await app.rows('delete from notes where project_id = $1', [project.id]);
  await comment(project, 'master', { note: 'stays', path: 'a', line: 1, line_type: 'new' });
  await app.runTasks();
  const bodies = receiver.at<NoteBody>('/whole').map(({ body }) => body.object_attributes);
  t.is(bodies.length, 1);
  t.like(bodies[0], { note: 'stays', commit_id: sha, line_code: null, st_diff: null, type: null });
});

for (const [kind, key] of [
  ['issues', 'issue'],
  ['merge_requests', 'merge_request'],
  ['snippets', 'snippet'],
] as const) {
  test.serial(`a comment on one of the ${kind} is told with that, once and as it was said`, async (t) => {
    const { app } = holder;
    const project = await app.make.project({ columns: everythingOn });
    await hook(`/projects/${project.id}`, `/of-${kind}`, { push_events: false, note_events: true });
    const id = await makeParent(app, project, kind);
    const notes = new NotesOf(app, project, { kind, id });
    const { body } = await notes.post('Why?');
    await notes.put(body.id, 'Why not?');
    await notes.post(kind === 'snippets' ? 'x' : ':+1:');
    await app.runTasks();
    const received = receiver.at<NoteBody>(`/of-${kind}`);
    t.is(received.length, kind === 'snippets' ? 2 : 1);
    t.is(received[0]?.headers['x-gitlab-event'], 'Note Hook');
    const { object_attributes: told, ...rest } = received[0]?.body ?? t.fail();
    const [row] = await app.rows<{ iid?: number; created_at: Date }>(`select * from ${kind} where id = $1`, [
      id,
    ]);
    const page = `${app.url}/${project.fullPath}/${kind}/${row?.iid ?? id}`;
    t.like(told, {
      id: body.id,
      note: 'Why not?',
      noteable_type: body.noteable_type,
      noteable_id: id,
      author_id: project.owner.id,
      updated_by_id: project.owner.id,
      commit_id: null,
      line_code: null,
      st_diff: null,
      type: null,
      system: false,
      is_award: false,
      url: `${page}#note_${body.id}`,
    });
    t.like(rest, { object_kind: 'note', project_id: project.id });
    const things = ['commit', 'issue', 'merge_request', 'snippet'].filter((name) => name in rest);
    t.deepEqual(things, [key]);
    t.like(rest[key], { id, author_id: project.owner.id, created_at: row?.created_at.toISOString() });
    if (kind === 'snippets') {
      const { created_at, updated_at, title, ...snippet } = rest[key] as Record<string, unknown>;
      t.deepEqual(snippet, {
        id,
        content: 'text',
        author_id: project.owner.id,
        project_id: project.id,
        file_name: 'a.txt',
        type: 'ProjectSnippet',
        visibility_level: 10,
      });
    }
  });
}

test.serial('a comment on something that is gone by then is told to nobody', async (t) => {
  const { app } = holder;
  const project = await app.make.project({ columns: everythingOn });
  await hook(`/projects/${project.id}`, '/gone', { push_events: false, note_events: true });
  for (const [kind, change] of [
    ['issues', 'deleted_at = now()'],
    ['merge_requests', 'deleted_at = now()'],
    ['snippets', 'visibility_level = 0'],
  ] as const) {
    const id = await makeParent(app, project, kind);
    await new NotesOf(app, project, { kind, id }).post('x');
    await app.rows(`update ${kind} set ${change} where id = $1`, [id]);
  }
  await app.runTasks();
  t.deepEqual(receiver.at('/gone'), []);
});
