import test from 'ava';
import { git } from '../git/real-git.ts';
import { type Answer, withApp } from '../support/app.ts';
import { importCommits } from '../support/import-commits.ts';
import type { MadeProject } from '../support/make.ts';
import { addBranch, ask, branchedProject, type ShownMergeRequest } from '../support/merge-requests.ts';

const holder = withApp();

interface Change {
  old_path: string;
  new_path: string;
  diff: string;
  new_file: boolean;
}

function get<T>({ id, owner }: MadeProject, suffix: string, as = owner.token): Promise<Answer<T>> {
  return holder.app.call('GET', `/api/v3/projects/${id}/merge_requests${suffix}`, { as });
}

/** Four of them: `opened`, `closed`, `merged` and `reopened`, made in this order. */
async function four() {
  const { app } = holder;
  const { project, dir, side } = await branchedProject(app);
  for (const [index, state] of ['opened', 'closed', 'merged', 'reopened'].entries()) {
    await addBranch(dir, state, side);
    const { body } = await ask(app, project, project.owner, { source_branch: state });
    await app.rows('update merge_requests set state = $2, created_at = $3, updated_at = $4 where id = $1', [
      body.id,
      state,
      `2016-01-0${index + 1}T00:00:00Z`,
      `2016-02-0${9 - index}T00:00:00Z`,
    ]);
  }
  const branches = async (query: string) => {
    const { body } = await get<ShownMergeRequest[]>(project, `?${query}`);
    return body.map((one) => one.source_branch).join();
  };
  return { project, branches };
}

test('lists by state and number, in every order', async (t) => {
  const { branches } = await four();
  const cases = {
    '': 'reopened,merged,closed,opened',
    'state=all': 'reopened,merged,closed,opened',
    'state=nonsense': 'reopened,merged,closed,opened',
    'state=opened': 'reopened,opened',
    'state=closed': 'closed',
    'state=merged': 'merged',
    'state=opened&sort=asc': 'opened,reopened',
    'order_by=updated_at': 'opened,closed,merged,reopened',
    'order_by=updated_at&sort=asc': 'reopened,merged,closed,opened',
    'order_by=title': 'reopened,merged,closed,opened',
    'iid=2': 'closed',
    'iid=2&state=merged': '',
    'iid=9': '',
    'per_page=2&page=2': 'closed,opened',
  };
  for (const [query, wanted] of Object.entries(cases)) t.is(await branches(query), wanted, query);
});

test('with the same time, the number decides, in both directions', async (t) => {
  const { project, branches } = await four();
  await holder.app.rows('update merge_requests set created_at = now() where project_id = $1', [project.id]);
  t.is(await branches('sort=asc'), 'opened,closed,merged,reopened');
  t.is(await branches('sort=desc'), 'reopened,merged,closed,opened');
});

test('commits and changes are what the source has since the histories parted, newest first', async (t) => {
  const { app } = holder;
  const { project, dir, master } = await branchedProject(app);
  const shas = await importCommits(dir, 'work', [
    { message: 'First\n', files: { a: '1\n' } },
    { message: 'Two\n', files: { a: '1\n2\n' } },
    { message: 'Three\n', files: { b: 'x\n' } },
  ]);
  await git(dir, 'branch', '--quiet', 'start', shas[0] ?? '');
  const { body } = await ask(app, project, project.owner, {
    source_branch: 'work',
    target_branch: 'start',
  });
  const commits = await get<{ id: string; title: string; allow_failure: boolean }[]>(
    project,
    `/${body.id}/commits`,
  );
  t.deepEqual(
    commits.body.map(({ title }) => title),
    ['Three', 'Two'],
  );
  t.is(commits.body[0]?.id, shas[2]);
  t.is(commits.headers.get('x-total'), '2');
  const second = await get<{ title: string }[]>(project, `/${body.id}/commits?per_page=1&page=2`);
  t.deepEqual(
    second.body.map(({ title }) => title),
    ['Two'],
  );
  const changes = await get<ShownMergeRequest & { changes: Change[] }>(project, `/${body.id}/changes`);
  const { changes: files, ...shown } = changes.body;
  const { merge_status, ...rest } = body;
  t.like(shown, rest as Record<string, unknown>);
  t.deepEqual(
    files.map(({ new_path, new_file, diff }) => [new_path, new_file, diff]),
    [
      ['a', false, '--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n 1\n+2\n'],
      ['b', true, '--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+x\n'],
    ],
  );
  // What becomes of the branches later changes nothing of it.
  await app.rows(`update merge_requests set state = 'merged' where id = $1`, [body.id]);
  await git(dir, 'update-ref', 'refs/heads/start', master);
  await git(dir, 'update-ref', '-d', 'refs/heads/work');
  await git(dir, 'reflog', 'expire', '--expire=now', '--all');
  await git(dir, 'gc', '--quiet', '--prune=now');
  t.deepEqual((await get(project, `/${body.id}/commits`)).body, commits.body);
  t.deepEqual((await get<{ changes: Change[] }>(project, `/${body.id}/changes`)).body.changes, files);
});

test('histories with nothing in common, and a source that has nothing new', async (t) => {
  const { app } = holder;
  const { project, dir, first } = await branchedProject(app);
  await importCommits(dir, 'alone', [{ message: 'Alone\n', files: { z: '1\n' } }]);
  await addBranch(dir, 'old', first);
  const titles = async (id: number) =>
    (await get<{ title: string }[]>(project, `/${id}/commits`)).body.map(({ title }) => title);
  const paths = async (id: number) =>
    (await get<{ changes: Change[] }>(project, `/${id}/changes`)).body.changes.map((file) => file.new_path);
  const alone = await ask(app, project, project.owner, { source_branch: 'alone' });
  t.deepEqual(await titles(alone.body.id), ['Alone']);
  t.deepEqual(await paths(alone.body.id), ['z']);
  const old = await ask(app, project, project.owner, { source_branch: 'old' });
  t.is(old.status, 200);
  t.deepEqual(await titles(old.body.id), []);
  t.deepEqual(await paths(old.body.id), []);
});

test('the caller hears of it or not, as he says', async (t) => {
  const { app } = holder;
  const { project } = await branchedProject(app);
  const { body } = await ask(app, project, project.owner);
  const guest = await app.make.member(project, 'guest');
  const path = `/api/v3/projects/${project.id}/merge_requests/${body.id}/subscription`;
  const call = async (method: string, as: string) => {
    const answer = await app.call<ShownMergeRequest>(method, path, { as });
    return answer.status === 304 ? '304' : `${answer.status} ${answer.body.subscribed}`;
  };
  const steps: [string, string, string][] = [
    ['DELETE', guest.token, '304'],
    ['POST', guest.token, '201 true'],
    ['POST', guest.token, '304'],
    ['DELETE', guest.token, '200 false'],
    ['DELETE', guest.token, '304'],
    // He wrote it, and says no all the same.
    ['POST', project.owner.token, '304'],
    ['DELETE', project.owner.token, '200 false'],
    ['DELETE', project.owner.token, '304'],
  ];
  for (const [method, as, wanted] of steps) t.is(await call(method, as), wanted, `${method} ${wanted}`);
  t.false((await get<ShownMergeRequest>(project, `/${body.id}`)).body.subscribed);
});

test('comments as older clients read and write them', async (t) => {
  const { app } = holder;
  const { project } = await branchedProject(app);
  const { body } = await ask(app, project, project.owner);
  const guest = await app.make.member(project, 'guest');
  const path = `/api/v3/projects/${project.id}/merge_request/${body.id}/comments`;
  const made = await app.call<{ note: string; author: { id: number } }>('POST', path, {
    as: guest.token,
    form: { note: 'Looks *good*' },
  });
  t.is(made.status, 201);
  t.deepEqual(Object.keys(made.body), ['note', 'author']);
  t.like(made.body, { note: 'Looks *good*' });
  t.is(made.body.author.id, guest.id);
  await app.call('PUT', `/api/v3/projects/${project.id}/merge_requests/${body.id}`, {
    as: project.owner.token,
    json: { state_event: 'close' },
  });
  t.deepEqual((await app.call('GET', path, { as: guest.token })).body, [made.body]);
  const missing = await app.call('POST', path, { as: guest.token });
  t.is(missing.status, 400);
  t.deepEqual(missing.body, { message: '400 (Bad request) "note" not given' });
});

test('everything about one is also under the older path', async (t) => {
  const { app } = holder;
  const { project } = await branchedProject(app);
  const { body } = await ask(app, project, project.owner);
  const as = project.owner.token;
  for (const suffix of ['', '/commits', '/changes', '/comments']) {
    const [older, newer] = await Promise.all(
      ['merge_request', 'merge_requests'].map((name) =>
        app.call('GET', `/api/v3/projects/${project.id}/${name}/${body.id}${suffix}`, { as }),
      ),
    );
    t.is(older?.status, 200);
    t.deepEqual(older?.body, newer?.body);
  }
  const path = `/api/v3/projects/${project.id}/merge_request/${body.id}`;
  t.is((await app.call('PUT', path, { as, json: { title: 'New' } })).status, 200);
  t.is((await app.call('POST', `${path}/comments`, { as, json: { note: 'x' } })).status, 201);
  t.is((await app.call('DELETE', `${path}/subscription`, { as })).status, 200);
  t.is((await app.call('POST', `${path}/subscription`, { as })).status, 201);
  t.is((await app.call('DELETE', path, { as })).status, 200);
  t.is((await app.call('GET', path, { as })).status, 404);
});
