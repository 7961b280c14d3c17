import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import { databaseLocks } from '../support/crashing-push.ts';
import { eventually } from '../support/eventually.ts';

const holder = withApp({ poolSize: 3 });
const { hold, waiters } = databaseLocks(holder);

test('a relation that is undone by two at the same time is counted back once', async (t) => {
  const { make, call } = holder.app;
  const parent = await make.project();
  const forks = [await make.project(), await make.project()];
  const relation = (id: number | undefined) => `/api/v3/projects/${id}/fork`;
  for (const { id } of forks) await call('POST', `${relation(id)}/${parent.id}`, { as: rootToken });
  const lock = await hold(t, 'select 1 from projects where id = $1 for update', [forks[0]?.id]);
  const undone = [1, 2].map(() => call('DELETE', relation(forks[0]?.id), { as: rootToken }));
  await eventually(async () => (await waiters('%set forked_from_id = null%')) === 2);
  await lock.release();
  for (const { status } of await Promise.all(undone)) t.is(status, 200);
  const left = await call<{ forks_count: number }>('GET', `/api/v3/projects/${parent.id}`, { as: rootToken });
  t.is(left.body.forks_count, 1);
});

test('two forks of one project by one user, into a group and into his own namespace, do not block each other', async (t) => {
  const { make, call } = holder.app;
  const [user, source] = [await make.user(), await make.project({ visibility: 'public' })];
  const group = await make.group();
  await make.groupMember(group, user, 'owner');
  const fork = (form: Record<string, string>) =>
    call('POST', `/api/v3/projects/fork/${source.id}`, { as: user.token, form });
  const lock = await hold(t, 'select 1 from projects where id = $1 for update', [source.id]);
  const intoGroup = fork({ namespace: String(group) });
  await eventually(async () => (await waiters('%insert into projects%')) === 1);
  const intoOwn = fork({});
  await eventually(async () => (await waiters('%insert into projects%')) === 2);
  await lock.release();
  for (const { status } of await Promise.all([intoGroup, intoOwn])) t.is(status, 201);
});
