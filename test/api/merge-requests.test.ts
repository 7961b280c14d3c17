import test from 'ava';
import { queueFollow } from '../../server/actions/follow-merge-request.ts';
import { git, makeBench } from '../git/real-git.ts';
import { type Answer, rootToken, withApp } from '../support/app.ts';
import { addBranch, ask, branchedProject, type ShownMergeRequest } from '../support/merge-requests.ts';

const holder = withApp();

test('a new merge request in full, and the same one read again', async (t) => {
  const { app } = holder;
  const { project, dir, first, side } = await branchedProject(app);
  const helper = await app.make.member(project, 'guest');
  const [milestone] = await app.rows<{ id: number }>(
    `insert into milestones (project_id, iid, title) values ($1, 1, 'Soon') returning id`,
    [project.id],
  );
  const made = await ask(app, project, project.owner, {
    title: ' WIP: Do it ',
    description: 'As said',
    assignee_id: helper.id,
    milestone_id: milestone?.id,
    labels: 'slow, bug,bug',
  });
  t.is(made.status, 200);
  const { author, assignee, milestone: shown, created_at, updated_at, ...rest } = made.body;
  t.like(author, { id: project.owner.id, username: project.owner.username, state: 'active' });
  t.like(assignee, { id: helper.id });
  t.like(shown, { id: milestone?.id, title: 'Soon' });
  t.regex(created_at, /^\d{4}-.*\.\d{3}Z$/);
  t.is(updated_at, created_at);
  t.deepEqual(rest as Record<string, unknown>, {
    id: made.body.id,
    iid: 1,
    project_id: project.id,
    title: 'WIP: Do it',
    description: 'As said',
    state: 'opened',
    target_branch: 'master',
    source_branch: 'side',
    upvotes: 0,
    downvotes: 0,
    source_project_id: project.id,
    target_project_id: project.id,
    labels: ['bug', 'slow'],
    work_in_progress: true,
    merge_when_build_succeeds: false,
    merge_status: rest.merge_status,
    subscribed: true,
    user_notes_count: 0,
  });
  const path = `/api/v3/projects/${project.id}/merge_requests/${made.body.id}`;
  const read = await app.call('GET', path, { as: project.owner.token });
  t.is(read.status, 200);
  t.deepEqual(read.body, made.body);
  const seen = await app.call<ShownMergeRequest>('GET', path, { as: rootToken });
  t.deepEqual(seen.body, { ...made.body, subscribed: false });
  const [row] = await app.rows('select head_sha, base_sha from merge_requests where id = $1', [made.body.id]);
  t.deepEqual(row, { head_sha: side, base_sha: first });
  t.is(await git(dir, 'rev-parse', 'refs/merge-requests/1/head'), side);
  t.is(await git(dir, 'rev-parse', `refs/keep-around/${side}`), side);
});

test('what is refused, in this order', async (t) => {
  const { app } = holder;
  const { project, dir, side } = await branchedProject(app);
  await addBranch(dir, 'other', side);
  const { owner } = project;
  const stranger = await app.make.user();
  const reporter = await app.make.member(project, 'reporter');
  const developer = await app.make.member(project, 'developer');
  const gone = await app.make.project();
  t.is((await ask(app, project, developer, { title: 'The "first"' })).status, 200);
  const same = ['You can not use same project/branch for source and target'];
  const notFork = ['Source project is not a fork of target project'];
  const badLabel = { labels: { 'a?b': { title: ['is invalid'] } } };
  const absent = ['does not exist'];
  const cases: [Promise<Answer>, number, unknown][] = [
    [ask(app, project, stranger, {}), 404, '404 Project Not Found'],
    [ask(app, project, reporter, { title: '' }), 403, '403 Forbidden'],
    [
      ask(app, project, owner, { source_branch: ' ', target_branch: '' }),
      400,
      '400 (Bad request) "source_branch" not given',
    ],
    [
      ask(app, project, owner, { target_branch: '', title: '' }),
      400,
      '400 (Bad request) "target_branch" not given',
    ],
    [ask(app, project, owner, { title: '' }), 400, '400 (Bad request) "title" not given'],
    [
      ask(app, project, owner, { title: 'x'.repeat(256) }),
      400,
      { title: ['is too long (maximum is 255 characters)'] },
    ],
    [ask(app, project, owner, { labels: 'a?b', target_branch: 'side' }), 400, badLabel],
    [ask(app, project, owner, { target_branch: 'side' }), 422, same],
    [ask(app, project, owner, { target_branch: 'side', target_project_id: project.id }), 422, same],
    [ask(app, project, owner, { target_project_id: gone.id }), 422, notFork],
    [ask(app, project, owner, { target_project_id: 99_999_999 }), 422, notFork],
    [
      ask(app, project, owner, {}),
      409,
      ['Cannot Create: This merge request already exists: ["The \\"first\\""]'],
    ],
    [ask(app, project, owner, { source_branch: 'no' }), 400, { source_branch: absent }],
    [
      ask(app, project, owner, { source_branch: 'a..b', target_branch: '-x' }),
      400,
      { source_branch: absent, target_branch: absent },
    ],
    [
      ask(app, project, owner, { source_branch: 'other', assignee_id: 99_999_999 }),
      400,
      { assignee_id: ['is invalid'] },
    ],
  ];
  for (const [asked, status, message] of cases) {
    const answer = await asked;
    t.is(answer.status, status, JSON.stringify(answer.body));
    t.deepEqual(answer.body, { message });
  }
  t.deepEqual(
    await app.rows(
      `select last_merge_request_iid as last, (select count(*)::int from labels where project_id = $1) as labels
       from projects where id = $1`,
      [project.id],
    ),
    [{ last: 1, labels: 0 }],
  );
});

test('projects that take none: archived, or switched off', async (t) => {
  const { app } = holder;
  for (const columns of [{ archived: true }, { merge_requests_enabled: false }]) {
    const { project } = await branchedProject(app, { columns });
    t.is((await ask(app, project, project.owner)).status, 403);
  }
});

test('the next number is never one that was used, and each project has its own', async (t) => {
  const { app } = holder;
  const { project, dir, side } = await branchedProject(app);
  await addBranch(dir, 'other', side);
  const first = await ask(app, project, project.owner);
  await app.call('DELETE', `/api/v3/projects/${project.id}/merge_requests/${first.body.id}`, {
    as: project.owner.token,
  });
  t.is((await ask(app, project, project.owner)).body.iid, 2);
  t.is((await ask(app, project, project.owner, { source_branch: 'other' })).body.iid, 3);
  const another = await branchedProject(app);
  t.is((await ask(app, another.project, another.project.owner)).body.iid, 1);
});

test('another milestone than one of the project is none', async (t) => {
  const { app } = holder;
  const { project } = await branchedProject(app);
  const other = await app.make.project();
  const [milestone] = await app.rows<{ id: number }>(
    `insert into milestones (project_id, iid, title) values ($1, 1, 'Theirs') returning id`,
    [other.id],
  );
  const made = await ask(app, project, project.owner, { milestone_id: milestone?.id });
  t.is(made.status, 200);
  t.is(made.body.milestone, null);
});

test('what follows: a line of the activity, a message to the hooks, the followers of its head', async (t) => {
  const { app } = holder;
  const { project } = await branchedProject(app);
  const [hook] = await app.rows<{ id: number }>(
    `insert into hooks (project_id, url, merge_requests_events) values ($1, 'http://127.0.0.1:1', true) returning id`,
    [project.id],
  );
  const { body } = await ask(app, project, project.owner);
  const events = await app.call<Record<string, unknown>[]>('GET', `/api/v3/projects/${project.id}/events`, {
    as: project.owner.token,
  });
  t.is(events.body.length, 1);
  t.like(events.body[0], {
    action_name: 'opened',
    target_type: 'MergeRequest',
    target_id: body.id,
    target_title: 'Merge me',
    author_id: project.owner.id,
  });
  const told = await app.rows<{ event: string; subject: string }>(
    'select event, subject from hook_deliveries where hook_id = $1',
    [hook?.id],
  );
  t.is(told.length, 1);
  t.is(told[0]?.event, 'Merge Request Hook');
  t.like(JSON.parse(told[0]?.subject ?? ''), { action: 'open', userId: project.owner.id });
});

test('whom its texts name takes part, and what they name tells of it', async (t) => {
  const { app } = holder;
  const { project } = await branchedProject(app);
  const helper = await app.make.member(project, 'guest');
  const issue = await app.make.issue(project);
  const { body } = await ask(app, project, project.owner, {
    description: `For @${helper.username}, as in #${issue.iid}`,
  });
  const path = `/api/v3/projects/${project.id}/merge_requests/${body.id}`;
  const isSubscribed = async () =>
    (await app.call<ShownMergeRequest>('GET', path, { as: helper.token })).body.subscribed;
  t.true(await isSubscribed());
  t.deepEqual(
    await app.rows(`select body from notes where noteable_type = 'Issue' and noteable_id = $1`, [issue.id]),
    [{ body: 'mentioned in merge request !1' }],
  );
  await app.call('PUT', path, { as: project.owner.token, json: { description: 'For nobody' } });
  t.false(await isSubscribed());
});

test('a crash before the head is set is mended by a task', async (t) => {
  const { app } = holder;
  const { project, dir, side } = await branchedProject(app);
  const { body } = await ask(app, project, project.owner);
  await git(dir, 'update-ref', '-d', 'refs/merge-requests/1/head');
  await queueFollow(app.work, body.id);
  await app.runAllTasks();
  t.is(await git(dir, 'rev-parse', 'refs/merge-requests/1/head'), side);
});

test('what was pushed before others could see it is taken over by that task', async (t) => {
  const { app } = holder;
  const { project, dir, first, side } = await branchedProject(app);
  const { body } = await ask(app, project, project.owner);
  t.is(body.merge_status, 'can_be_merged');
  await app.rows('update merge_requests set head_sha = $2, base_sha = $2 where id = $1', [body.id, first]);
  await queueFollow(app.work, body.id);
  await app.runAllTasks();
  const row = await app.rows('select head_sha, base_sha from merge_requests where id = $1', [body.id]);
  t.deepEqual(row, [{ head_sha: side, base_sha: first }]);
  t.is(await git(dir, 'rev-parse', 'refs/merge-requests/1/head'), side);
});

test('one of another project, of a number or a word is not there', async (t) => {
  const { app } = holder;
  const { project } = await branchedProject(app);
  const other = await branchedProject(app, { owner: project.owner });
  const { body } = await ask(app, other.project, project.owner);
  for (const id of [body.id, 99_999_999, 0, 'x', '99999999999999']) {
    const path = `/api/v3/projects/${project.id}/merge_requests/${id}`;
    const answer = await app.call('GET', path, { as: project.owner.token });
    t.is(answer.status, 404, String(id));
    t.deepEqual(answer.body, { message: '404 Not found' });
  }
});

test('guests of a private project read them, but no code in them; strangers see nothing', async (t) => {
  const { app } = holder;
  const { project } = await branchedProject(app);
  const { body } = await ask(app, project, project.owner);
  const guest = await app.make.member(project, 'guest');
  const stranger = await app.make.user();
  const path = `/api/v3/projects/${project.id}/merge_requests`;
  const statusOf = async (suffix: string, as: string) =>
    (await app.call('GET', path + suffix, { as })).status;
  t.is(await statusOf('', guest.token), 200);
  t.is(await statusOf(`/${body.id}`, guest.token), 200);
  t.is(await statusOf(`/${body.id}/comments`, guest.token), 200);
  t.is(await statusOf(`/${body.id}/commits`, guest.token), 403);
  t.is(await statusOf(`/${body.id}/changes`, guest.token), 403);
  for (const suffix of ['', `/${body.id}`, `/${body.id}/commits`, `/${body.id}/comments`]) {
    t.is(await statusOf(suffix, stranger.token), 404);
  }
  await app.rows('update projects set merge_requests_enabled = false where id = $1', [project.id]);
  for (const suffix of ['', `/${body.id}`, `/${body.id}/commits`, `/${body.id}/comments`]) {
    t.is(await statusOf(suffix, project.owner.token), 403, suffix);
  }
});

test('only owners take one away, and then it is gone with its head', async (t) => {
  const { app } = holder;
  const { project, dir } = await branchedProject(app);
  const { body } = await ask(app, project, project.owner);
  const master = await app.make.member(project, 'master');
  const path = `/api/v3/projects/${project.id}/merge_requests/${body.id}`;
  const refused = await app.call('DELETE', path, { as: master.token });
  t.is(refused.status, 404);
  t.deepEqual(refused.body, { message: '404 Not found' });
  const enable = (isOn: boolean) =>
    app.rows('update projects set merge_requests_enabled = $2 where id = $1', [project.id, isOn]);
  await enable(false);
  for (const as of [project.owner.token, rootToken]) {
    t.deepEqual((await app.call('DELETE', path, { as })).body, { message: '404 Not found' });
  }
  await enable(true);
  const removed = await app.call<ShownMergeRequest>('DELETE', path, { as: project.owner.token });
  t.is(removed.status, 200);
  t.is(removed.body.id, body.id);
  for (const [method, suffix] of [
    ['DELETE', ''],
    ['GET', ''],
    ['PUT', ''],
    ['GET', '/commits'],
    ['GET', '/comments'],
    ['POST', '/subscription'],
  ] as const) {
    t.is((await app.call(method, path + suffix, { as: project.owner.token })).status, 404, method + suffix);
  }
  const list = await app.call('GET', `/api/v3/projects/${project.id}/merge_requests`, { as: rootToken });
  t.deepEqual(list.body, []);
  t.is(await git(dir, 'for-each-ref', 'refs/merge-requests'), '');
  t.is((await ask(app, project, project.owner)).status, 200);
});

test('clients fetch the head, and nobody pushes to it', async (t) => {
  const { app } = holder;
  const { project, side, master } = await branchedProject(app);
  await ask(app, project, project.owner);
  const url = `${app.url.replace('://', `://root:${rootToken}@`)}/${project.fullPath}.git`;
  const heads = await git('/', 'ls-remote', url, 'refs/merge-requests/*');
  t.is(heads, `${side}\trefs/merge-requests/1/head`);
  const bench = await makeBench();
  const tree = await bench.workTree();
  await git(tree, 'fetch', '--quiet', url, 'refs/merge-requests/1/head');
  t.is(await git(tree, 'rev-parse', 'FETCH_HEAD'), side);
  const error = await t.throwsAsync(git(tree, 'push', url, '+HEAD:refs/merge-requests/1/head'));
  t.regex(error?.message ?? '', /keeps refs of this name for itself/);
  await t.throwsAsync(git(tree, 'push', url, ':refs/merge-requests/1/head'));
  t.is(await git('/', 'ls-remote', url, 'refs/merge-requests/*'), heads);
  t.not(side, master);
  await bench.clean();
});
