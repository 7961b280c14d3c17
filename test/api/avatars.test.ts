import { createHash } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import { looseCommit } from '../support/loose-commit.ts';
import type { MadeUser } from '../support/make.ts';

const holder = withApp();

interface Shown {
  avatar_url: string | null;
}

/** The same user in every kind of answer that shows one. */
async function everywhere(t: ExecutionContext): Promise<{ user: MadeUser; shown(): Promise<unknown[]> }> {
  const { app } = holder;
  const project = await app.make.project();
  const user = await app.make.member(project, 'master');
  const mine = await app.make.project({ owner: user });
  const groupId = await app.make.group();
  await app.make.groupMember(groupId, user, 'owner');
  const build = await app.make.build(project, { columns: { user_id: user.id } });
  await app.rows('update pipelines set user_id = $2 where id = $1', [build.pipelineId, user.id]);
  const status = `projects/${project.id}/statuses/${await looseCommit(app, project)}`;
  const get = async (path: string) => (await app.call('GET', `/api/v3/${path}`, { as: rootToken })).body;
  const own = async <T>(method: string, path: string, form?: Record<string, string>) =>
    (await app.call<T>(method, `/api/v3/${path}`, { as: user.token, form })).body;
  const shown = async () => {
    const answers = [
      await own<Shown>('GET', 'user'),
      await own<Shown>('POST', 'session', { login: user.username, password: 'password' }),
      await get(`users/${user.id}`),
      await get(`users?username=${user.username}`),
      await own<Shown>('GET', `users/${user.id}`),
      ((await get(`projects/${mine.id}`)) as { owner: unknown }).owner,
      await get(`groups/${groupId}/members`),
      await get(`projects/${project.id}/members`),
      await get(`projects/${project.id}/users?search=${user.username}`),
      ((await get(`projects/${project.id}/builds/${build.id}`)) as { user: unknown }).user,
      ((await get(`projects/${project.id}/pipelines/${build.pipelineId}`)) as { user: unknown }).user,
      (await own<{ author: unknown }>('POST', status, { state: 'success', ref: 'master' })).author,
    ];
    return answers.map((answer) => {
      const one = Array.isArray(answer)
        ? answer.find(({ username }) => username === user.username)
        : (answer as Shown);
      t.truthy(one, JSON.stringify(answer));
      return one?.avatar_url;
    });
  };
  return { user, shown };
}

test.serial(
  'users without a picture are shown with one of Gravatar while the instance asks it',
  async (t) => {
    const { app } = holder;
    const { user, shown } = await everywhere(t);
    const set = (value: boolean) =>
      app.call('PUT', '/api/v3/application/settings', {
        as: rootToken,
        json: { avatar_service_enabled: value },
      });
    const hash = createHash('md5').update(`${user.username}@example.com`).digest('hex');
    const gravatar = `http://www.gravatar.com/avatar/${hash}?s=80&d=identicon`;
    t.deepEqual(new Set(await shown()), new Set([gravatar]));
    await set(false);
    t.deepEqual(new Set(await shown()), new Set([null]));
    await app.rows('update users set avatar = $2 where id = $1', [user.id, 'https://example.com/me.png']);
    t.deepEqual(new Set(await shown()), new Set(['https://example.com/me.png']));
    await set(true);
    t.deepEqual(new Set(await shown()), new Set(['https://example.com/me.png']));
  },
);

test.serial('the letters of the address do not count', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const read = async () =>
    (await app.call<Shown>('GET', `/api/v3/users/${user.id}`, { as: rootToken })).body.avatar_url;
  const before = await read();
  await app.rows('update users set email = upper(email) where id = $1', [user.id]);
  t.is(await read(), before);
});
