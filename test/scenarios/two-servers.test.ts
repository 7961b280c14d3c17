import { randomBytes } from 'node:crypto';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../server/postgres/embedded.ts';
import { Forge, type Project } from '../support/forge.ts';
import { withWorkTrees } from '../support/git.ts';
import type { Hearth } from '../support/hearth.ts';
import { poll } from '../support/program.ts';
import { withHearth } from '../support/with-hearth.ts';

/** Milliseconds. A runner that nobody wakes is answered later than that, when its server looks again by itself. */
const wakeLimit = 10_000;

const credentials = { login: 'root', password: 'correct horse battery' };
const silent = { debug() {}, warn() {}, error() {} };
const trees = withWorkTrees();
const hearths = withHearth();
let postgres: EmbeddedPostgres;
let servers: [Hearth, Hearth];

test.before(async () => {
  const shared = await hearths.folder();
  postgres = await startEmbeddedPostgres({ dir: join(shared, 'postgres'), durable: false, log: silent });
  hearths.later(() => postgres.stop());
  const settings = {
    DATABASE_URL: postgres.url,
    HEARTH_SECRET_KEY: randomBytes(32).toString('hex'),
    HEARTH_ROOT_PASSWORD: credentials.password,
  };
  const start = async () => {
    const folder = await hearths.folder();
    await shareFiles(shared, join(folder, 'data'));
    return hearths.start({ folder, settings });
  };
  // Together, on an empty database.
  servers = await Promise.all([start(), start()]);
});

test('two servers that start together on an empty database both serve, and root exists once', async (t) => {
  for (const { url } of servers) {
    t.is((await fetch(`${url}/healthz`)).status, 200);
    t.is((await fetch(`${url}/readyz`)).status, 200);
    const forge = await Forge.signIn(url, credentials);
    t.like(await forge.get('/users'), { length: 1, 0: { id: 1, username: 'root' } });
  }
});

test('a runner that waits at one server is woken by a push and a retry at the other', async (t) => {
  const [first, second] = servers;
  const [here, there] = await Promise.all(servers.map(({ url }) => Forge.signIn(url, credentials)));
  if (!here || !there) return t.fail();
  const project = await here.createProject('shared');
  await second.addRunner({
    name: 'waiting',
    token: project.runners_token,
    options: ['--executor', 'shell'],
  });
  const [{ id }] = await here.get<[{ id: number }]>('/runners/all');
  await poll('runner that waits', 60_000, async () => {
    return (await here.get<{ contacted_at: string | null }>(`/runners/${id}`)).contacted_at;
  });

  const tree = await trees.fresh();
  await tree.commit({ '.gitlab-ci.yml': pipeline });
  await tree.git('push', '--quiet', here.cloneUrl(project), 'master');
  await woken(here, project);
  const [make, use] = await here.ended(project, 2);
  t.deepEqual([make?.status, use?.status], ['success', 'success']);
  if (!use) return t.fail();
  t.true((await here.trace(project, use)).includes('\nhanded on\n'));
  t.is(await there.trace(project, use), await here.trace(project, use));
  t.not(first.url, second.url);

  await here.post(`/projects/${project.id}/builds/${use.id}/retry`);
  await woken(here, project);
  t.is((await there.ended(project, 3))[2]?.status, 'success');
});

/** Waits until no build waits any more. */
function woken(forge: Forge, project: Project): Promise<true> {
  return poll('runner that was woken', wakeLimit, async () => {
    const builds = await forge.builds(project);
    return builds.every(({ status }) => status !== 'pending') || null;
  });
}

/** As file systems that several machines mount. */
async function shareFiles(shared: string, dataDir: string): Promise<void> {
  await mkdir(dataDir);
  for (const name of ['repositories', 'blobs']) {
    await mkdir(join(shared, name), { recursive: true });
    await symlink(join(shared, name), join(dataDir, name));
  }
}

const pipeline = `
stages: [first, second]
make:
  stage: first
  script: [echo handed on > file.txt]
  artifacts: { paths: [file.txt] }
use:
  stage: second
  script: [cat file.txt]
`;
