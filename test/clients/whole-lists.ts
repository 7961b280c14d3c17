import { clientTest, loadClient, type Place } from './client-test.ts';

interface Named {
  id: number;
  [key: string]: unknown;
}
type Steps<T> = Generator<Promise<unknown> | ((done: unknown) => void), Promise<T>, unknown>;

interface Client {
  rq(path: string, params?: Record<string, unknown>): Promise<unknown>;
  list_projects(): Steps<Named[]>;
  list_groups(): Steps<Named[]>;
  changelog(project: number, ref: string, bottom: unknown): Steps<Named[]>;
  put(path: string, params: Record<string, unknown>): Steps<Named>;
}
type Package = new (credentials: { api_url: string; private_token: string }) => Client;

const Library = loadClient<Package>('gitlab-api');

clientTest('gitlab-api: all pages of all projects, and all groups', async (t, place) => {
  const client = open(place);
  const made = new Set<string>();
  for (let count = 0; count < 101; count++) {
    const name = place.name('page');
    made.add(name);
    await post(place, 'projects', { name });
  }
  const group = place.name('page-group');
  await post(place, 'groups', { name: group, path: group });
  const projects = await walk(client.list_projects());
  t.is(new Set(projects.map(({ id }) => id)).size, projects.length);
  const listed = new Set(projects.map(({ name }) => String(name)));
  t.deepEqual(
    [...made].filter((name) => !listed.has(name)),
    [],
  );
  // It sends what it was once given with all that follows, a page number too: a new one is needed.
  t.true((await walk(open(place).list_groups())).some(({ path }) => path === group));
});

clientTest('gitlab-api: parameters of a change in the query and in a form at once', async (t, place) => {
  const client = open(place);
  const { id } = await post(place, 'projects', { name: place.name('both') });
  const change = { id, description: 'a b & c', wiki_enabled: false };
  t.like(await walk(client.put('/projects/{{id}}', change)), {
    description: 'a b & c',
    wiki_enabled: false,
  });
  t.like(await client.rq('/projects/{{id}}', { id }), { description: 'a b & c' });
  t.like(await client.rq('/user'), { username: 'root' });
});

clientTest('gitlab-api: commits down to one, of a file that it changes', async (t, place) => {
  const { id } = await post(place, 'projects', { name: place.name('log') });
  const file = { file_path: 'a.txt', branch_name: 'master' };
  const begin = { ...file, content: 'one\n', commit_message: 'Begin' };
  await post(place, `projects/${id}/repository/files`, begin);
  const change = { ...file, id, content: 'two & more = ü\n', commit_message: 'Change' };
  t.like(await walk(open(place).put('/projects/{{id}}/repository/files', change)), file);
  const shown = { id, file_path: 'a.txt', ref: 'master' };
  t.like(await open(place).rq('/projects/{{id}}/repository/files', shown), {
    content: Buffer.from(change.content).toString('base64'),
  });
  const log = await walk(open(place).changelog(id, 'master', null)).catch((error: unknown) => error);
  t.is(log, 'Cannot find, sorry');
  const [newest, oldest] = (await open(place).rq('/projects/{{id}}/repository/commits', { id })) as Named[];
  t.deepEqual(await walk(open(place).changelog(id, 'master', newest?.id)), [newest]);
  t.deepEqual(await walk(open(place).changelog(id, 'master', oldest?.id)), [newest, oldest]);
  const branch = { id, branch: 'master' };
  const protection = '/projects/{{id}}/repository/branches/{{branch}}';
  t.like(await walk(open(place).put(`${protection}/unprotect`, branch)), { protected: false });
  t.like(await walk(open(place).put(`${protection}/protect`, branch)), { protected: true });
});

function open({ api, token }: Place): Client {
  if (!Library) throw new Error('not installed');
  return new Library({ api_url: api, private_token: token });
}

async function post({ api, token }: Place, path: string, form: Record<string, string>): Promise<Named> {
  const headers = { 'PRIVATE-TOKEN': token };
  const answer = await fetch(`${api}/${path}`, { method: 'POST', headers, body: new URLSearchParams(form) });
  return answer.json() as Promise<Named>;
}

/** Runs its generators as the runtime does that it was written for: promises and functions with a callback. */
async function walk<T>(steps: Steps<T>): Promise<T> {
  for (let next = steps.next(); ; ) {
    if (next.done) return next.value;
    next = steps.next(await settle(next.value));
  }
}

function settle(step: Promise<unknown> | ((done: unknown) => void)): Promise<unknown> {
  if (typeof step !== 'function') return Promise.resolve(step);
  return new Promise((resolve, reject) => {
    step((error: unknown, ...results: unknown[]) => (error ? reject(error) : resolve(results)));
  });
}
