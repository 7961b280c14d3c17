import test, { type ExecutionContext } from 'ava';
import { announceNoteable } from '../../server/hooks/announce-noteable.ts';
import { inTransaction } from '../../server/sql.ts';
import { rootToken } from '../support/app.ts';
import { withReceiver } from '../support/hook-receiver.ts';
import { withPushes } from '../support/pushes.ts';

const { holder, filled } = withPushes();
const receiver = withReceiver();

test.serial.before(async () => {
  await holder.app.rows('update settings set local_requests_allowed = true');
});

interface Body {
  object_attributes: Record<string, unknown>;
  [key: string]: unknown;
}

const deaf = { push_events: false };

async function hook(place: string, path: string, flags: Record<string, boolean>): Promise<void> {
  const json = { url: receiver.url(path), ...deaf, ...flags };
  const made = await holder.app.call('POST', `/api/v3${place}/hooks`, { as: rootToken, json });
  if (made.status !== 201) throw new Error(`no hook: ${made.status}`);
}

function personOf({ username }: { username: string }, block: unknown) {
  return { name: `Name of ${username}`, username, avatar_url: (block as { avatar_url: string }).avatar_url };
}

/** A hook of the whole system that asked for it hears the same. */
function isToldToTheSystem(t: ExecutionContext, body: Body, path = '/system'): void {
  const heard = receiver
    .at<Body>(path)
    .filter((message) => message.body.object_attributes.id === body.object_attributes.id);
  t.is(heard.length, 1);
  t.is(heard[0]?.headers['x-gitlab-event'], 'System Hook');
  t.deepEqual(heard[0]?.body, body);
}

test.serial('an issue is told as it was when it was changed, to the hooks that asked', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const [assignee, closer] = [
    await app.make.member(project, 'guest'),
    await app.make.member(project, 'guest'),
  ];
  await hook(`/projects/${project.id}`, '/issues', { issues_events: true });
  await hook(`/projects/${project.id}`, '/no-issues', { merge_requests_events: true, note_events: true });
  await hook('', '/system', { issues_events: true });
  const elsewhere = await app.make.project();
  await hook(`/projects/${elsewhere.id}`, '/elsewhere', { issues_events: true });
  const columns = {
    ...{ title: 'It breaks', description: 'Always', assignee_id: assignee.id, updated_by_id: closer.id },
    ...{ state: 'closed', created_at: '2016-01-07T12:44:33.123Z', updated_at: '2016-01-08T12:44:33Z' },
  };
  const { id, iid } = await app.make.issue(project, { columns });
  await announceNoteable(app.work, { type: 'Issue', id, action: 'close', userId: closer.id });
  await app.rows(`update issues set title = 'Not any more', deleted_at = now() where id = $1`, [id]);
  await app.runTasks();
  await app.runAllTasks();
  const [received, ...more] = receiver.at<Body>('/issues');
  if (!received) return t.fail();
  t.is(more.length, 0);
  t.is(received.headers['x-gitlab-event'], 'Issue Hook');
  const web = `${app.url}/${project.fullPath}`;
  const { project: block, repository, ...body } = received.body;
  t.deepEqual(body as object, {
    object_kind: 'issue',
    user: personOf(closer, body.user),
    object_attributes: {
      id,
      title: 'It breaks',
      assignee_id: assignee.id,
      author_id: project.owner.id,
      project_id: project.id,
      created_at: '2016-01-07T12:44:33.123Z',
      updated_at: '2016-01-08T12:44:33.000Z',
      position: 0,
      branch_name: null,
      description: 'Always',
      milestone_id: null,
      state: 'closed',
      iid,
      updated_by_id: closer.id,
      confidential: false,
      deleted_at: null,
      due_date: null,
      moved_to_id: null,
      url: `${web}/issues/${iid}`,
      action: 'close',
    },
    assignee: personOf(assignee, body.assignee),
  });
  t.regex(String((body.user as { avatar_url: string }).avatar_url), /gravatar/);
  t.like(block, { web_url: web, path_with_namespace: project.fullPath, default_branch: null });
  t.like(repository, { name: project.path, homepage: web, description: null });
  isToldToTheSystem(t, received.body);
  for (const path of ['/no-issues', '/elsewhere']) t.deepEqual(receiver.at(path), [], path);
});

test.serial('a merge request is told with both projects and its last commit', async (t) => {
  const { app } = holder;
  const { project, sha } = await filled();
  await hook(`/projects/${project.id}`, '/requests', { merge_requests_events: true });
  await hook(`/projects/${project.id}`, '/no-requests', { issues_events: true });
  await hook('', '/system-requests', { merge_requests_events: true });
  const fork = await app.make.project({ visibility: 'public' });
  const columns = {
    ...{ title: 'WIP: mend', source_branch: 'mend', source_project_id: fork.id, head_sha: sha },
    ...{ merge_status: 'can_be_merged', merge_commit_sha: 'a'.repeat(40), merge_user_id: project.owner.id },
    ...{ created_at: '2016-01-07T12:44:33Z', updated_at: '2016-01-08T12:44:33Z', state: 'reopened' },
  };
  const { id, iid } = await app.make.mergeRequest(project, { columns });
  await announceNoteable(app.work, { type: 'MergeRequest', id, action: 'reopen', userId: project.owner.id });
  await app.runTasks();
  const [received, ...more] = receiver.at<Body>('/requests');
  if (!received) return t.fail();
  t.is(more.length, 0);
  t.is(received.headers['x-gitlab-event'], 'Merge Request Hook');
  const web = `${app.url}/${project.fullPath}`;
  const { object_attributes: told, ...body } = received.body;
  t.deepEqual(Object.keys(body).sort(), ['object_kind', 'project', 'repository', 'user']);
  t.is(body.object_kind, 'merge_request');
  const { source, target, ...attributes } = told;
  t.deepEqual(attributes, {
    id,
    target_branch: 'master',
    source_branch: 'mend',
    source_project_id: fork.id,
    target_project_id: project.id,
    author_id: project.owner.id,
    assignee_id: null,
    title: 'WIP: mend',
    created_at: '2016-01-07T12:44:33.000Z',
    updated_at: '2016-01-08T12:44:33.000Z',
    milestone_id: null,
    state: 'reopened',
    merge_status: 'can_be_merged',
    iid,
    description: null,
    position: 0,
    locked_at: null,
    updated_by_id: null,
    merge_error: null,
    merge_params: {},
    merge_when_build_succeeds: false,
    merge_user_id: project.owner.id,
    merge_commit_sha: 'a'.repeat(40),
    deleted_at: null,
    last_commit: {
      id: sha,
      message: 'Change\n',
      timestamp: '2016-06-03T03:43:20-03:30',
      url: `${web}/commit/${sha}`,
      author: { name: 'Ada Lovelace', email: 'ada@example.org' },
    },
    work_in_progress: true,
    url: `${web}/merge_requests/${iid}`,
    action: 'reopen',
  });
  t.deepEqual(target, body.project);
  t.like(source, { path_with_namespace: fork.fullPath, visibility_level: 20 });
  isToldToTheSystem(t, received.body, '/system-requests');
  t.deepEqual(receiver.at('/no-requests'), []);
});

test.serial(
  'each change of a merge request is told in its order, also without source and commit',
  async (t) => {
    const { app } = holder;
    const project = await app.make.project();
    await hook(`/projects/${project.id}`, '/order', { merge_requests_events: true });
    const columns = { source_project_id: null, merge_when_build_succeeds: true, merge_message: 'Merge' };
    const { id } = await app.make.mergeRequest(project, { columns });
    for (const action of ['open', 'update', 'close', 'reopen', 'merge'] as const) {
      await announceNoteable(app.work, { type: 'MergeRequest', id, action, userId: project.owner.id });
    }
    await app.rows('update merge_requests set head_sha = $2 where id = $1', [id, '1'.repeat(40)]);
    await announceNoteable(app.work, { type: 'MergeRequest', id, action: 'update', userId: 0 });
    await app.runTasks();
    const bodies = receiver.at<Body>('/order').map(({ body }) => body);
    t.deepEqual(
      bodies.map(({ object_attributes: { action } }) => action),
      ['open', 'update', 'close', 'reopen', 'merge', 'update'],
    );
    for (const { object_attributes: told } of bodies) t.like(told, { source: null, last_commit: null });
    t.deepEqual(bodies[0]?.object_attributes.merge_params, {
      commit_message: 'Merge',
      should_remove_source_branch: false,
    });
    t.is(bodies.at(-1)?.user, null, 'whoever is gone by then has no name');
  },
);

test.serial('nothing is told of a change that did not come to pass', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  await hook(`/projects/${project.id}`, '/undone', { issues_events: true });
  const { id } = await app.make.issue(project);
  await t.throwsAsync(
    inTransaction(app.work, async (work) => {
      await announceNoteable(work, { type: 'Issue', id, action: 'update', userId: project.owner.id });
      throw new Error('no');
    }),
  );
  await app.runTasks();
  t.deepEqual(receiver.at('/undone'), []);
});
