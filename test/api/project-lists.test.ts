import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import type { MadeProject, MadeUser } from '../support/make.ts';

const holder = withApp();

type Project = Record<string, unknown> & { id: number; path: string };

async function list(path: string, as: string, query: Record<string, string> = {}): Promise<Project[]> {
  const all = { order_by: 'id', sort: 'asc', per_page: '100', ...query };
  const answer = await holder.app.call<Project[]>('GET', `/api/v3/projects${path}`, { as, query: all });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  if (Number(answer.headers.get('x-total')) < answer.body.length) throw new Error('the total is too small');
  return answer.body;
}

function ids(projects: { id: number }[]): number[] {
  return projects.map(({ id }) => id);
}

function star(project: MadeProject, as: MadeUser) {
  return holder.app.call<Project>('POST', `/api/v3/projects/${project.id}/star`, { as: as.token });
}

test('owned: the own namespace and the groups that one owns, not what one is a mere member of', async (t) => {
  const { make } = holder.app;
  const user = await make.user();
  const [owned, mastered] = [await make.group(), await make.group()];
  await make.groupMember(owned, user, 'owner');
  await make.groupMember(mastered, user, 'master');
  const own = await make.project({ owner: user });
  const ofGroup = await make.project({ namespaceId: owned });
  await make.project({ namespaceId: mastered });
  await make.project({ namespaceId: owned, columns: { pending_delete: true } });
  const joined = await make.project();
  await holder.app.rows(
    'insert into project_members (project_id, user_id, access_level) values ($1, $2, 40)',
    [joined.id, user.id],
  );
  const found = await list('/owned', user.token);
  t.deepEqual(ids(found), [own.id, ofGroup.id]);
  t.deepEqual(found.at(1)?.permissions, {
    project_access: null,
    group_access: { access_level: 50, notification_level: 3 },
  });
  t.false('runners_token' in (found[0] ?? {}));
  t.deepEqual(ids(await list('/owned', user.token, { visibility: 'public' })), []);
  t.deepEqual(ids(await list('/owned', user.token, { search: own.path })), [own.id]);
});

test('starred: what one has starred and can still see', async (t) => {
  const { make, rows } = holder.app;
  const [user, outsider] = [await make.user(), await make.user({ external: true })];
  const open = await make.project({ visibility: 'public' });
  const inner = await make.project({ visibility: 'internal' });
  const hidden = await make.project({ visibility: 'internal' });
  const mine = await make.project({ owner: user });
  for (const project of [open, inner, hidden, mine]) t.is((await star(project, user)).status, 201);
  t.is((await star(open, outsider)).status, 201);
  await rows('insert into stars (project_id, user_id) values ($1, $2)', [inner.id, outsider.id]);
  await rows('update projects set visibility_level = 0 where id = $1', [hidden.id]);
  const found = await list('/starred', user.token);
  t.deepEqual(ids(found), [open.id, inner.id, mine.id]);
  t.false('permissions' in (found[0] ?? {}));
  t.deepEqual(ids(await list('/starred', outsider.token)), [open.id], 'external users see no internal ones');
  t.deepEqual(ids(await list('/starred', user.token, { visibility: 'internal' })), [inner.id]);
});

test('stars: once each, counted, taken back once', async (t) => {
  const { make, call, rows } = holder.app;
  const project = await make.project({
    visibility: 'public',
    columns: { updated_at: new Date('2016-01-01T00:00:00Z') },
  });
  const users = [await make.user(), await make.user()] as const;
  const first = await star(project, users[0]);
  t.is(first.status, 201);
  t.like(first.body, { id: project.id, star_count: 1 });
  t.false('permissions' in first.body || 'runners_token' in first.body);
  const again = await star(project, users[0]);
  t.deepEqual([again.status, again.body], [304, '' as never]);
  t.is((await star(project, users[1])).body.star_count, 2);
  const [touched] = await rows<{ is_new: boolean }>(
    `select updated_at > '2016-01-02' as is_new from projects where id = $1`,
    [project.id],
  );
  t.true(touched?.is_new);
  const unstar = () =>
    call<Project>('DELETE', `/api/v3/projects/${encodeURIComponent(project.fullPath)}/star`, {
      as: users[0].token,
    });
  const back = await unstar();
  t.is(back.status, 200);
  t.like(back.body, { id: project.id, star_count: 1 });
  t.is((await unstar()).status, 304);
  const closed = await make.project();
  t.is((await star(closed, users[0])).status, 404);
});

test('two stars of one user at the same moment count once', async (t) => {
  const project = await holder.app.make.project({ visibility: 'public' });
  const user = await holder.app.make.user();
  const answers = await Promise.all(Array.from({ length: 6 }, () => star(project, user)));
  t.deepEqual(answers.map(({ status }) => status).sort(), [201, 304, 304, 304, 304, 304]);
  const [row] = await holder.app.rows('select star_count from projects where id = $1', [project.id]);
  t.deepEqual(row, { star_count: 1 });
});

test.serial('all: for administrators, with the total that the database keeps', async (t) => {
  const { make, call, rows, runAllTasks } = holder.app;
  const user = await make.user();
  t.is((await call('GET', '/api/v3/projects/all', { as: user.token })).status, 403);
  const old = await make.project({ visibility: 'internal', columns: { archived: true } });
  const going = await make.project({ columns: { pending_delete: true } });
  const changing = await make.project();
  await rows('update projects set visibility_level = 20, archived = true where id = $1', [changing.id]);
  const gone = await make.project();
  await rows('delete from projects where id = $1', [gone.id]);
  await make.project({ columns: { description: 'the needle in it' } });
  async function compare() {
    const queries: Record<string, string>[] = [
      {},
      { archived: 'true' },
      { archived: 'false' },
      { visibility: 'internal' },
      { visibility: 'public', archived: 'true' },
      { search: 'NEEDLE' },
      { search: 'nobody has this' },
    ];
    for (const query of queries) {
      const answer = await call<Project[]>('GET', '/api/v3/projects/all', {
        as: rootToken,
        query: { per_page: '100', order_by: 'id', ...query },
      });
      t.is(answer.headers.get('x-total'), String(answer.body.length), JSON.stringify(query));
      t.false(ids(answer.body).some((id) => id === going.id || id === gone.id));
    }
  }
  await compare();
  await rows(`select graphile_worker.add_job('sum_project_counts', '{}')`);
  await runAllTasks();
  const [sums] = await rows<{ rows: number }>('select count(*)::int as rows from project_counts');
  t.true((sums?.rows ?? 9) <= 6);
  await compare();
  const found = await list('/all', rootToken, { archived: 'true' });
  t.deepEqual(ids(found), [old.id, changing.id]);
  t.deepEqual(found[0]?.permissions, { project_access: null, group_access: null });
});

test('search: part of the name, of the own projects and of those anybody may see', async (t) => {
  const { make } = holder.app;
  const [user, outsider] = [await make.user(), await make.user({ external: true })];
  const make_ = (name: string, visibility: 'private' | 'internal' | 'public', owner?: MadeUser) =>
    make.project({ visibility, columns: { name }, ...(owner ? { owner } : {}) });
  const open = await make_('zebra One', 'public');
  const inner = await make_('a zebra', 'internal');
  await make_('zebra secret', 'private');
  const own = await make_('my 100% ZEBRA', 'private', user);
  await make.project({ visibility: 'public', columns: { name: 'other', description: 'zebra' } });
  const search = (as: string, query = {}) => list('/search/zEbRa', as, query);
  const found = await search(user.token);
  t.deepEqual(ids(found), [open.id, inner.id, own.id]);
  t.false('permissions' in (found[0] ?? {}));
  t.deepEqual(ids(await search(outsider.token)), [open.id]);
  t.deepEqual(ids(await search(rootToken)), [open.id, inner.id]);
  t.deepEqual(ids(await search(user.token, { sort: 'desc' })), [own.id, inner.id, open.id]);
  t.deepEqual(ids(await search(user.token, { order_by: 'name' })), [inner.id, own.id, open.id]);
  t.deepEqual(ids(await search(user.token, { order_by: '', sort: '' })), [open.id, inner.id, own.id]);
  t.deepEqual(ids(await list('/search/0%25%20Z', user.token)), [own.id], 'a wildcard stands for itself');
  const shadowed = await make_('events and users', 'public');
  t.deepEqual(ids(await list('/search/events', user.token)), [shadowed.id], 'not the events of a project');
});

test('orders and pages agree with each other, from either end', async (t) => {
  const { make, rows } = holder.app;
  const user = await make.user();
  const first = await make.project({ owner: user });
  await rows(
    `insert into projects (namespace_id, creator_id, name, path, created_at, last_activity_at, visibility_level,
       runners_token_digest, runners_token_sealed)
     select $1, $2, 'page ' || n, 'page-' || n, now() - (n % 7) * interval '1 day', now() - (n % 11) * interval '1 h',
       (n % 3) * 10, convert_to('page' || n, 'utf8'), ''
     from generate_series(1, 5300) n`,
    [user.namespaceId, user.id],
  );
  for (const order_by of ['created_at', 'name', 'last_activity_at', 'id']) {
    for (const sort of ['asc', 'desc'] as const) {
      const order = order_by === 'id' ? `id ${sort}` : `${order_by} ${sort}, id ${sort}`;
      const sorted = await rows<{ id: number }>(
        `select id from projects where namespace_id = $1 order by ${order}`,
        [user.namespaceId],
      );
      for (const page of [1, 26, 51, 52, 53, 54, 55]) {
        const found = await list('', user.token, { order_by, sort, page: String(page) });
        const wanted = ids(sorted.slice((page - 1) * 100, page * 100));
        t.deepEqual(ids(found), wanted, `${order} page ${page}`);
      }
    }
  }
  t.true(ids(await list('', user.token)).includes(first.id));
});
