import test from 'ava';
import { zeroSha } from '../../server/git/ref-name.ts';
import { rootToken } from '../support/app.ts';
import { withReceiver } from '../support/hook-receiver.ts';
import type { MadeProject } from '../support/make.ts';
import { PlayedRunner } from '../support/played-runner.ts';
import { withPushes } from '../support/pushes.ts';

const { holder, empty, filled } = withPushes();
const receiver = withReceiver();

test.serial.before(async () => {
  await holder.app.rows('update settings set local_requests_allowed = true');
});

async function hook(project: MadeProject, path: string, flags: Record<string, boolean> = {}): Promise<void> {
  const json = { url: receiver.url(path), ...flags };
  const made = await holder.app.call('POST', `/api/v3/projects/${project.id}/hooks`, { as: rootToken, json });
  if (made.status !== 201) throw new Error(`no hook: ${made.status}`);
}

interface PushBody {
  ref: string;
  commits: Record<string, unknown>[];
  [key: string]: unknown;
}

test.serial('a push tells of its commits, oldest first, with the paths they changed', async (t) => {
  const { app } = holder;
  const { project, tree, url, sha } = await filled();
  await hook(project, '/push');
  await tree.commit({ 'a.txt': '1', 'deep/ä\n.txt': '2' }, 'Add\n\nwith a body');
  await tree.git('rm', '-q', 'a.txt');
  const last = await tree.commit({ '.gitlab-ci.yml': 'a: {script: b}' }, 'Change');
  await tree.git('push', '--quiet', url, 'master');
  await app.runTasks();
  const [received] = receiver.at<PushBody>('/push');
  t.is(received?.headers['x-gitlab-event'], 'Push Hook');
  const web = `${app.url}/${project.fullPath}`;
  const ssh = `git@127.0.0.1:${project.fullPath}.git`;
  const repository = { name: project.path, description: null, homepage: web, url: ssh };
  const { commits, ...body } = received?.body ?? { commits: [], ref: '' };
  t.deepEqual(body, {
    object_kind: 'push',
    event_name: 'push',
    before: sha,
    after: last,
    ref: 'refs/heads/master',
    checkout_sha: last,
    message: null,
    user_id: project.owner.id,
    user_name: `Name of ${project.owner.username}`,
    user_email: `${project.owner.username}@example.com`,
    user_avatar: body.user_avatar,
    project_id: project.id,
    project: {
      name: project.path,
      description: null,
      web_url: web,
      avatar_url: null,
      git_ssh_url: ssh,
      git_http_url: `${web}.git`,
      namespace: project.owner.username,
      visibility_level: 0,
      path_with_namespace: project.fullPath,
      default_branch: 'master',
      homepage: web,
      url: ssh,
      ssh_url: ssh,
      http_url: `${web}.git`,
    },
    total_commits_count: 2,
    repository: { ...repository, git_http_url: `${web}.git`, git_ssh_url: ssh, visibility_level: 0 },
  });
  t.regex(String(body.user_avatar), /gravatar/);
  const person = { name: 'Ada Lovelace', email: 'ada@example.org' };
  t.deepEqual(
    commits.map(({ message, added, modified, removed, author }) => ({
      message,
      added,
      modified,
      removed,
      author,
    })),
    [
      {
        message: 'Add\n\nwith a body\n',
        added: ['a.txt', 'deep/ä\n.txt'],
        modified: [],
        removed: [],
        author: person,
      },
      { message: 'Change\n', added: [], modified: ['.gitlab-ci.yml'], removed: ['a.txt'], author: person },
    ],
  );
  t.like(commits[1], { id: last, url: `${web}/commit/${last}`, timestamp: '2016-06-03T03:43:20-03:30' });
});

test.serial('making and removing a branch is told, once each', async (t) => {
  const { project, tree, url, sha } = await filled();
  await hook(project, '/branch');
  await tree.git('push', '--quiet', url, 'HEAD:refs/heads/side');
  await tree.git('push', '--quiet', url, ':refs/heads/side');
  await holder.app.runTasks();
  await holder.app.runAllTasks();
  const bodies = receiver.at<PushBody>('/branch').map(({ body }) => body);
  t.deepEqual(
    bodies.map(({ before, after, checkout_sha, commits }) => [before, after, checkout_sha, commits.length]),
    [
      [zeroSha, sha, sha, 0],
      [sha, zeroSha, null, 0],
    ],
  );
});

test.serial(
  'tags are told to those who asked for tags alone, with their commit and their words',
  async (t) => {
    const { app } = holder;
    const { project, tree, url, sha } = await filled();
    await hook(project, '/tags', { push_events: false, tag_push_events: true });
    await hook(project, '/no-tags');
    await tree.git('tag', '-a', 'v1', '-m', 'First\n\nof all');
    await tree.git('tag', 'v2');
    await tree.git('push', '--quiet', url, 'v1');
    await tree.git('push', '--quiet', url, 'v2');
    await tree.git('push', '--quiet', url, ':refs/tags/v2');
    const tag = await tree.git('rev-parse', 'v1');
    await app.runTasks();
    const received = receiver.at<PushBody>('/tags');
    t.is(received[0]?.headers['x-gitlab-event'], 'Tag Push Hook');
    const bodies = received.map(({ body }) => body);
    t.like(bodies[0], {
      object_kind: 'tag_push',
      event_name: 'tag_push',
      ref: 'refs/tags/v1',
      before: zeroSha,
      after: tag,
    });
    t.deepEqual(
      bodies.map(({ message, checkout_sha, total_commits_count, commits }) => [
        message,
        checkout_sha,
        total_commits_count,
        commits.map(({ id, added }) => [id, added]),
      ]),
      [
        ['First\n\nof all', sha, 1, [[sha, ['.gitlab-ci.yml']]]],
        [null, sha, 1, [[sha, ['.gitlab-ci.yml']]]],
        [null, null, 0, []],
      ],
    );
    t.deepEqual(receiver.at('/no-tags'), []);
  },
);

test.serial('system hooks are told of pushes and tags by their flags, and of no commits', async (t) => {
  const { app } = holder;
  const json = { url: receiver.url('/system'), tag_push_events: true };
  const made = await app.call<{ id: number }>('POST', '/api/v3/hooks', { as: rootToken, json });
  const quiet = { url: receiver.url('/quiet'), push_events: false };
  const other = await app.call<{ id: number }>('POST', '/api/v3/hooks', { as: rootToken, json: quiet });
  const { project, tree, url } = await filled();
  await tree.git('push', '--quiet', url, 'HEAD:refs/tags/v1');
  await app.runTasks();
  const received = receiver.at<PushBody>('/system').filter(({ body }) => body.project_id === project.id);
  t.deepEqual(
    received.map(({ headers, body }) => [
      headers['x-gitlab-event'],
      body.event_name,
      body.commits,
      body.total_commits_count,
    ]),
    [
      ['System Hook', 'push', [], 0],
      ['System Hook', 'tag_push', [], 0],
    ],
  );
  t.deepEqual(receiver.at('/quiet'), []);
  for (const { body } of [made, other])
    await app.call('DELETE', `/api/v3/hooks/${body.id}`, { as: rootToken });
});

test.serial('hooks of other projects, and of one that is removed, hear nothing', async (t) => {
  const { app } = holder;
  const { project, tree, url } = await empty();
  await hook(await app.make.project(), '/foreign');
  await hook(project, '/hidden');
  await tree.commit({ a: '1' });
  await tree.git('push', '--quiet', url, 'master');
  await app.rows('update projects set pending_delete = true where id = $1', [project.id]);
  await app.runTasks();
  await app.runAllTasks();
  t.deepEqual([...receiver.at('/foreign'), ...receiver.at('/hidden')], []);
});

test.serial('a message tells what was pushed, also when its author is gone', async (t) => {
  const { app } = holder;
  const { project, tree } = await empty();
  await hook(project, '/orphan');
  const author = await app.make.member(project, 'master');
  await tree.commit({ a: '1' });
  const address = `${app.url.replace('//', `//x:${author.token}@`)}/${project.fullPath}.git`;
  await tree.git('push', '--quiet', address, 'master');
  await app.rows('update events set author_id = null where author_id = $1', [author.id]);
  await app.runTasks();
  t.like(receiver.at('/orphan')[0]?.body, { user_id: null, user_email: null, total_commits_count: 1 });
});

test.serial('each state of a build is told, in order, to those who asked', async (t) => {
  const { app } = holder;
  const { project, tree, url } = await empty();
  await hook(project, '/builds', { push_events: false, build_events: true });
  await hook(project, '/no-builds', { push_events: false });
  const sha = await tree.commit({ '.gitlab-ci.yml': 'one: {script: a}\n' }, 'Build it');
  await tree.git('push', '--quiet', url, 'master');
  const runner = new PlayedRunner(app, await app.make.runner({ projects: [project] }));
  const build = await runner.mustClaim();
  await runner.report(build, 'failed');
  const as = project.owner.token;
  const again = await app.call<{ id: number }>(
    'POST',
    `/api/v3/projects/${project.id}/builds/${build.id}/retry`,
    { as },
  );
  await app.call('POST', `/api/v3/projects/${project.id}/builds/${again.body.id}/cancel`, { as });
  await app.runTasks();
  const received = receiver.at('/builds');
  t.is(received[0]?.headers['x-gitlab-event'], 'Build Hook');
  const bodies = received.map(({ body }) => body);
  t.deepEqual(
    bodies.map(({ build_id, build_status }) => [build_id, build_status]),
    [
      [build.id, 'pending'],
      [build.id, 'running'],
      [build.id, 'failed'],
      [again.body.id, 'pending'],
      [again.body.id, 'canceled'],
    ],
  );
  const failed = bodies[2] ?? {};
  const name = `Name of ${project.owner.username}`;
  t.deepEqual(Object.keys(failed), [
    ...[
      'object_kind',
      'ref',
      'tag',
      'before_sha',
      'sha',
      'build_id',
      'build_name',
      'build_stage',
      'build_status',
    ],
    ...['build_started_at', 'build_finished_at', 'build_duration', 'build_allow_failure', 'project_id'],
    ...['project_name', 'user', 'commit', 'repository'],
  ]);
  t.like(failed, {
    object_kind: 'build',
    ref: 'master',
    tag: false,
    sha,
    build_name: 'one',
    build_stage: 'test',
  });
  t.like(failed, {
    project_id: project.id,
    project_name: `${name} / ${project.path}`,
    build_allow_failure: false,
  });
  t.like(failed.user as object, { id: project.owner.id, name });
  t.like(failed.commit as object, {
    id: bodies[0]?.commit && (bodies[0].commit as { id: number }).id,
    sha,
    message: 'Build it\n',
  });
  t.regex(String(failed.build_started_at), /^\d{4}-\d\d-\d\dT.*Z$/);
  t.is(typeof failed.build_duration, 'number');
  t.like(bodies[0], { build_started_at: null, build_finished_at: null, build_duration: null });
  t.is(bodies[1]?.build_finished_at, null);
  t.deepEqual(receiver.at('/no-builds'), []);
});

test.serial(
  'what a full hook of a project is not told is noted once, and the others hear of it',
  async (t) => {
    const { app } = holder;
    const { project, tree, url } = await filled();
    await hook(project, '/not-full');
    await hook(project, '/full');
    const [full] = await app.rows<{ id: number }>(
      'select max(id) as id from hooks where project_id = $1 having count(*) = 2',
      [project.id],
    );
    await app.rows(
      `insert into hook_deliveries (hook_id, event, body, due_at)
     select $1, 'Push Hook', '{}', now() + interval '1 day' from generate_series(1, 1000)`,
      [full?.id],
    );
    await tree.git('push', '--quiet', url, 'HEAD:refs/heads/a', 'HEAD:refs/heads/b');
    await tree.git('push', '--quiet', url, 'HEAD:refs/heads/c');
    await app.runTasks();
    t.is(receiver.at('/not-full').length, 3);
    const path = `/api/v3/projects/${project.id}/hooks/${full?.id}/deliveries`;
    const { body } = await app.call<Record<string, unknown>[]>('GET', path, { as: rootToken });
    t.deepEqual(
      body.slice(0, 2).map(({ state, event }) => [state, event]),
      [
        ['dropped', 'Push Hook'],
        ['waiting', 'Push Hook'],
      ],
    );
  },
);

test.serial('a message that is not written yet is listed without its text', async (t) => {
  const { app } = holder;
  const { project, tree, url } = await filled();
  await hook(project, '/later');
  await tree.git('push', '--quiet', url, 'HEAD:refs/heads/a');
  const [{ id } = { id: 0 }] = await app.rows<{ id: number }>('select id from hooks where project_id = $1', [
    project.id,
  ]);
  const path = `/api/v3/projects/${project.id}/hooks/${id}/deliveries`;
  const { status, body } = await app.call<Record<string, unknown>[]>('GET', path, { as: rootToken });
  t.is(status, 200);
  t.like(body[0], { state: 'waiting', request_body: '' });
});
