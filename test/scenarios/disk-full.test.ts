import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { EmbeddedDatabase } from '../support/embedded-database.ts';
import type { Forge, Project } from '../support/forge.ts';
import { withWorkTrees } from '../support/git.ts';
import type { Hearth } from '../support/hearth.ts';
import { Program, poll } from '../support/program.ts';
import { diskTest, SmallDisk } from '../support/small-disk.ts';
import { withHearth } from '../support/with-hearth.ts';

const full = { message: '503 Service Unavailable - the disk of the server is full' };

/** Megabytes. What is free of it has to be more than the server wants to call itself ready. */
const sizes = { blobs: 100, repositories: 100, postgres: 300 };

const trees = withWorkTrees();
const hearths = withHearth();

type Part = keyof typeof sizes;

interface Scene {
  hearth: Hearth;
  forge: Forge;
  disk: SmallDisk;
}

/** A server that has one part of its data directory on a small disk. */
async function scene(part: Part): Promise<Scene> {
  const folder = await hearths.folder();
  const disk = await SmallDisk.mount(join(folder, 'data', part), sizes[part]);
  hearths.later(() => disk.unmount());
  const hearth = await hearths.start({ folder });
  return { hearth, forge: await hearth.forge(), disk };
}

interface Claimed {
  id: number;
  token: string;
  runnerToken: string;
  project: Project;
}

/** A build at work, of a runner that the test plays. */
async function claimedBuild({ hearth, forge }: Scene): Promise<Claimed> {
  const project = await forge.createProject('played');
  const tree = await trees.fresh();
  await tree.commit({ '.gitlab-ci.yml': 'job: { script: ["true"] }' });
  await tree.git('push', '--quiet', forge.cloneUrl(project), 'master');
  const send = async (path: string, fields: Record<string, string>) => {
    const answer = await fetch(`${hearth.url}/ci/api/v1/${path}`, {
      method: 'POST',
      body: new URLSearchParams(fields),
    });
    return (await answer.json()) as { id: number; token: string };
  };
  const { token: runnerToken } = await send('runners/register', { token: project.runners_token });
  const { id, token } = await send('builds/register', { token: runnerToken });
  return { id, token, runnerToken, project };
}

interface Answer {
  status: number;
  body: unknown;
}

async function call(url: string, request: RequestInit): Promise<Answer> {
  const answer = await fetch(url, request);
  const text = await answer.text();
  const isJson = answer.headers.get('content-type') === 'application/json';
  return { status: answer.status, body: isJson ? JSON.parse(text) : text };
}

function patch({ hearth }: Scene, build: Claimed, { start, bytes }: { start: number; bytes: Buffer }) {
  return call(`${hearth.url}/ci/api/v1/builds/${build.id}/trace.txt`, {
    method: 'PATCH',
    headers: {
      'Build-Token': build.token,
      'Content-Range': `${start}-${start + bytes.length}`,
      'Content-Type': 'text/plain',
    },
    body: new Uint8Array(bytes),
  });
}

function upload({ hearth }: Scene, build: Claimed, bytes: Buffer): Promise<Answer> {
  const body = new FormData();
  body.append('file', new Blob([new Uint8Array(bytes)]), 'files.zip');
  const headers = { 'Build-Token': build.token };
  return call(`${hearth.url}/ci/api/v1/builds/${build.id}/artifacts`, { method: 'POST', headers, body });
}

function succeed({ hearth }: Scene, { id, runnerToken }: Claimed): Promise<Answer> {
  const body = new URLSearchParams({ token: runnerToken, state: 'success' });
  return call(`${hearth.url}/ci/api/v1/builds/${id}`, { method: 'PUT', body });
}

function createProject({ hearth, forge }: Scene, name: string): Promise<Answer> {
  const headers = { 'PRIVATE-TOKEN': forge.token };
  const body = new URLSearchParams({ name });
  return call(`${hearth.url}/api/v3/projects`, { method: 'POST', headers, body });
}

async function assertReadiness(t: ExecutionContext, { hearth }: Scene, disk: 'ok' | 'failed'): Promise<void> {
  const { status, body } = await call(`${hearth.url}/readyz`, {});
  t.is(status, disk === 'ok' ? 200 : 503);
  t.like(body, { disk });
  t.is((await call(`${hearth.url}/healthz`, {})).status, 200);
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && entry.name !== 'filler').map(({ name }) => name);
}

diskTest('artifacts that find no room are refused, leave nothing, and are taken later', async (t) => {
  const at = await scene('blobs');
  const build = await claimedBuild(at);
  const bytes = randomBytes(4 * 1024 * 1024);
  await assertReadiness(t, at, 'ok');
  await at.disk.fill();
  await assertReadiness(t, at, 'failed');
  t.deepEqual(await upload(at, build, bytes), { status: 503, body: full });
  t.deepEqual(await filesBelow(at.disk.path), []);
  t.is((await patch(at, build, { start: 0, bytes: Buffer.from('so far\n') })).status, 202);
  t.is((await at.forge.build(build.project, build.id)).artifacts_file, null);

  await at.disk.makeRoom();
  await assertReadiness(t, at, 'ok');
  t.is((await upload(at, build, bytes)).status, 201);
  t.is((await succeed(at, build)).status, 200);
  t.true(bytes.equals(await at.forge.artifacts(build.project, build)));
  t.is(await at.forge.trace(build.project, build), 'so far\n');
});

diskTest('a push that finds no room is refused, leaves nothing, and is taken later', async (t) => {
  const at = await scene('repositories');
  const project = await at.forge.createProject('pushed');
  const tree = await trees.fresh();
  await tree.commit({ '.gitlab-ci.yml': 'job: { script: ["true"] }' });
  const url = at.forge.cloneUrl(project);
  await tree.git('push', '--quiet', url, 'master');
  await tree.commit({ 'noise.bin': randomBytes(2 * 1024 * 1024) });
  const before = await filesBelow(at.disk.path);
  await at.disk.fill();
  await assertReadiness(t, at, 'failed');
  const refused = await tree.try('push', url, 'master');
  t.not(refused.code, 0);
  t.regex(refused.stderr, /No space left on device/);
  t.deepEqual(await createProject(at, 'unborn'), { status: 503, body: full });
  t.deepEqual(await filesBelow(at.disk.path), before);
  t.is((await at.forge.builds(project)).length, 1);

  await at.disk.makeRoom();
  await assertReadiness(t, at, 'ok');
  await tree.git('push', '--quiet', url, 'master');
  t.is((await at.forge.builds(project)).length, 2);
  t.is((await createProject(at, 'unborn')).status, 201);
});

diskTest(
  'a database without room refuses, comes back when there is some, and has lost nothing',
  async (t) => {
    const at = await scene('postgres');
    const database = new EmbeddedDatabase(at.hearth);
    const build = await claimedBuild(at);
    const part = randomBytes(512 * 1024).toString('base64');
    const acknowledged: string[] = [];
    const append = async () => {
      const start = acknowledged.length * part.length;
      const answer = await patch(at, build, { start, bytes: Buffer.from(part) });
      if (answer.status === 202) acknowledged.push(part);
      return answer;
    };
    t.is((await append()).status, 202);
    await at.disk.fill();
    // What is left in files that are there already is used up first.
    const refusal = await poll('refusal', 60_000, async () => {
      const answer = await append();
      return answer.status === 202 ? null : answer;
    });
    t.log(`${acknowledged.length} parts, then ${JSON.stringify(refusal)}`);
    t.is(refusal.status, 503);
    await assertReadiness(t, at, 'failed');

    // The log of what is to be written has no room either: PostgreSQL gives up.
    await t.throwsAsync(
      (async () => {
        for (;;)
          await database.rows('select pg_switch_wal(), pg_logical_emit_message(true, $1, $2)', ['', part]);
      })(),
    );
    const { stderr } = at.hearth.server;
    await poll('word of the disk', 60_000, async () => {
      return at.hearth.server.stderr.slice(stderr.length).includes('waits for room on its disk') || null;
    });
    t.is((await append()).status, 503);
    t.is((await createProject(at, 'unborn')).status, 503);
    t.is((await succeed(at, build)).status, 503);
    await assertReadiness(t, at, 'failed');

    await at.disk.makeRoom();
    await poll('database that is back', 120_000, async () => {
      return (await call(`${at.hearth.url}/readyz`, {})).status === 200 || null;
    });
    t.is(await at.forge.trace(build.project, build), acknowledged.join(''));
    t.is((await append()).status, 202);
    t.is((await createProject(at, 'unborn')).status, 201);
    t.is((await succeed(at, build)).status, 200);
    t.is(await at.forge.trace(build.project, build), acknowledged.join(''));
  },
);

for (const part of ['', 'postgres']) {
  diskTest(`a server without room in data/${part} does not start, and says why`, async (t) => {
    const dataDir = join(await hearths.folder(), 'data');
    const disk = await SmallDisk.mount(join(dataDir, part), 1);
    hearths.later(() => disk.unmount());
    await disk.fill();
    const env = { PATH: process.env.PATH, HEARTH_DATA_DIR: dataDir };
    const args = ['server/start.js'];
    const server = new Program({ cwd: process.cwd(), env, command: process.execPath, args });
    t.is(await server.ended, 1);
    t.regex(server.stderr, /^hearth: there is no room in .*no space left on device.*; make room/im);
    t.false(server.stderr.includes('    at '), 'the place in the program is of no use to the administrator');
  });
}
