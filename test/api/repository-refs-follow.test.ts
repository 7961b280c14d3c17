import test from 'ava';
import { rootToken } from '../support/app.ts';
import { withReceiver } from '../support/hook-receiver.ts';
import { withPushes } from '../support/pushes.ts';

const { holder, filled, pipelines, builds, outstanding } = withPushes();
const receiver = withReceiver();

test.serial.before(async () => {
  await holder.app.rows('update settings set local_requests_allowed = true');
});

const zeros = '0'.repeat(40);

interface RefBody {
  object_kind: string;
  ref: string;
  before: string;
  after: string;
  checkout_sha: string | null;
  user_id: number;
}

/** A project with a CI file whose pushes and tag pushes are told to paths of their own. */
async function scene() {
  const at = await filled();
  const { id, owner } = at.project;
  const base = `/api/v3/projects/${id}`;
  for (const kind of ['push', 'tag_push']) {
    const flags = { push_events: kind === 'push', tag_push_events: kind === 'tag_push' };
    const json = { url: receiver.url(`/${kind}/${id}`), ...flags };
    const made = await holder.app.call('POST', `${base}/hooks`, { as: rootToken, json });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  }
  const call = async (method: 'POST' | 'DELETE', path: string, json?: Record<string, unknown>) => {
    const given = { as: owner.token, ...(json ? { json } : {}) };
    const { status, body } = await holder.app.call(method, `${base}/repository/${path}`, given);
    if (status !== 200) throw new Error(JSON.stringify(body));
  };
  /** What each kind of hook has heard since it was last asked. */
  const heard = { push: 0, tag_push: 0 };
  const hear = async () => {
    await holder.app.runTasks();
    const news = (kind: 'push' | 'tag_push') => {
      const bodies = receiver.at<RefBody>(`/${kind}/${id}`).map(({ body }) => body);
      const fresh = bodies.slice(heard[kind]);
      heard[kind] = bodies.length;
      return fresh;
    };
    return { push: news('push'), tagPush: news('tag_push') };
  };
  await hear();
  return { ...at, owner, call, hear };
}

test.serial('a branch that is made starts a pipeline, and hooks hear of it', async (t) => {
  const { project, owner, sha, call, hear } = await scene();
  await call('POST', 'branches', { branch_name: 'a/b', ref: 'master' });
  const [, made, ...others] = await pipelines(project);
  t.deepEqual(others, []);
  t.like(made, { ref: 'a/b', tag: false, sha, before_sha: zeros, status: 'pending', user_id: owner.id });
  t.deepEqual((await builds(project)).at(-1), { name: 'compile', status: 'pending' });
  t.is((await builds(project)).length, 2);
  const { push, tagPush } = await hear();
  t.deepEqual([push.length, tagPush.length], [1, 0]);
  t.like(push[0], { object_kind: 'push', ref: 'refs/heads/a/b', before: zeros, after: sha });
  t.like(push[0], { checkout_sha: sha, user_id: owner.id });
  t.is(await outstanding(project), 0);
});

test.serial('a branch that is removed starts no pipeline, and hooks hear of it', async (t) => {
  const { project, owner, sha, call, hear } = await scene();
  await call('POST', 'branches', { branch_name: 'a/b', ref: 'master' });
  await hear();
  const before = await pipelines(project);
  await call('DELETE', 'branches/a/b');
  t.is((await pipelines(project)).length, before.length);
  const { push, tagPush } = await hear();
  t.deepEqual([push.length, tagPush.length], [1, 0]);
  t.like(push[0], { object_kind: 'push', ref: 'refs/heads/a/b', before: sha, after: zeros });
  t.like(push[0], { checkout_sha: null, user_id: owner.id });
  t.is(await outstanding(project), 0);
});

for (const message of [undefined, 'The first one']) {
  const kind = message === undefined ? 'tag' : 'tag with a message';
  test.serial(
    `a ${kind} that is made starts a pipeline of its own, and hooks for tags hear of it`,
    async (t) => {
      const { project, owner, sha, call, hear } = await scene();
      await call('POST', 'tags', { tag_name: 'v1', ref: 'master', message });
      const [, made, ...others] = await pipelines(project);
      t.deepEqual(others, []);
      t.like(made, { ref: 'v1', tag: true, sha, before_sha: zeros, user_id: owner.id });
      t.is((await builds(project)).length, 2);
      const { push, tagPush } = await hear();
      t.deepEqual([push.length, tagPush.length], [0, 1]);
      t.like(tagPush[0], { object_kind: 'tag_push', ref: 'refs/tags/v1', before: zeros, checkout_sha: sha });
      t.is(tagPush[0]?.after === sha, message === undefined, 'a tag with a message is an object of its own');
      t.is(await outstanding(project), 0);
    },
  );
}

test.serial('a tag that is removed starts no pipeline, and hooks for tags hear of it', async (t) => {
  const { project, owner, sha, call, hear } = await scene();
  await call('POST', 'tags', { tag_name: 'v1', ref: 'master' });
  await hear();
  const before = await pipelines(project);
  await call('DELETE', 'tags/v1');
  t.is((await pipelines(project)).length, before.length);
  const { push, tagPush } = await hear();
  t.deepEqual([push.length, tagPush.length], [0, 1]);
  t.like(tagPush[0], { object_kind: 'tag_push', ref: 'refs/tags/v1', before: sha, after: zeros });
  t.like(tagPush[0], { checkout_sha: null, user_id: owner.id });
  t.is(await outstanding(project), 0);
});
