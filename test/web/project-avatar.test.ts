import { randomBytes } from 'node:crypto';
import test from 'ava';
import { rootToken } from '../support/app.ts';
import { damages } from '../support/damages.ts';
import { formOf } from '../support/form-of.ts';
import { cloneUrl } from '../support/git.ts';
import { type Pushed, withPushes } from '../support/pushes.ts';
import { type RawAnswer, rawHttp } from '../support/raw-http.ts';

const { holder, trees, empty } = withPushes();

function get(path: string, as?: string, method = 'GET'): Promise<RawAnswer> {
  const headers: Record<string, string> = as === undefined ? {} : { 'PRIVATE-TOKEN': as };
  return rawHttp(`${holder.app.url}/${path}`, method, { headers });
}

type Visibility = 'private' | 'internal' | 'public';
const levels: Record<Visibility, number> = { private: 0, internal: 10, public: 20 };

/** A project whose master has these files. */
async function withFiles(
  files: Record<string, string | Buffer>,
  visibility: Visibility = 'public',
): Promise<Pushed> {
  const at = await empty({ visibility_level: levels[visibility] });
  await at.tree.commit(files);
  await at.tree.git('push', '--quiet', at.url, 'master');
  return at;
}

const types = { 'logo.png': 'image/png', 'logo.jpg': 'image/jpeg', 'logo.gif': 'image/gif' };

for (const [name, type] of Object.entries(types)) {
  test.serial(`${name} is served byte by byte as a picture in which nothing runs`, async (t) => {
    // The larger one does not go through memory as a whole.
    for (const size of [1000, 300_000]) {
      const bytes = randomBytes(size);
      const { project } = await withFiles({ [name]: bytes });
      const answer = await get(`${project.fullPath}/avatar`);
      t.is(answer.status, 200);
      t.true(answer.bytes.equals(bytes));
      const headers = {
        'content-type': type,
        'content-length': String(size),
        'content-disposition': `inline; filename="${name}"`,
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
        'cache-control': 'private, no-cache',
      };
      t.like(answer.headers, headers);
      const head = await get(`${project.fullPath}/avatar`, undefined, 'HEAD');
      t.is(head.status, 200);
      t.like(head.headers, headers);
      t.is(head.bytes.length, 0);
    }
  });
}

test.serial('what a browser could run is no picture, whatever is in one', async (t) => {
  const { project } = await withFiles({ 'logo.gif': '<script>alert(1)</script>', 'logo.svg': '<svg/>' });
  const answer = await get(`${project.fullPath}/avatar`);
  t.is(answer.headers['content-type'], 'image/gif');
  t.is(answer.headers['x-content-type-options'], 'nosniff');
});

test.serial('those who may not read the files hear the same as where nothing is', async (t) => {
  const { make } = holder.app;
  const stranger = await make.user();
  const external = await make.user({ external: true });
  const blocked = await make.user({ state: 'blocked' });
  const nothing = await get(`${stranger.username}/no-such/avatar`, rootToken);
  t.deepEqual(nothing.json, { message: '404 Not Found' });
  const statuses: Record<Visibility, number[]> = {
    private: [404, 404, 404, 404, 401],
    internal: [404, 200, 404, 200, 401],
    public: [200, 200, 200, 200, 401],
  };
  for (const [visibility, expected] of Object.entries(statuses)) {
    const { project } = await withFiles({ 'logo.png': 'picture' }, visibility as Visibility);
    const guest = await make.member(project, 'guest');
    const callers = [undefined, stranger.token, external.token, guest.token, blocked.token];
    const answers = await Promise.all(callers.map((as) => get(`${project.fullPath}/avatar`, as)));
    t.deepEqual(
      answers.map(({ status }) => status),
      expected,
      visibility,
    );
    const hidden = answers.filter(({ status }) => status === 404);
    t.true(hidden.every(({ text }) => text === nothing.text));
    const reporter = await make.member(project, 'reporter');
    for (const as of [reporter.token, project.owner.token, rootToken]) {
      t.is((await get(`${project.fullPath}/avatar`, as)).text, 'picture');
    }
    t.is((await get(`${project.fullPath}/avatar?private_token=${reporter.token}`)).status, 200);
  }
});

test.serial('without a picture among the files there is nothing', async (t) => {
  const { app } = holder;
  const plain = await withFiles({ README: 'x', 'images/logo.png': 'x', 'logo.png/x': 'x' });
  const unborn = await empty({ visibility_level: 20 });
  const going = await withFiles({ 'logo.png': 'x' });
  await app.rows('update projects set pending_delete = true where id = $1', [going.project.id]);
  for (const { project } of [plain, unborn, going]) {
    const answer = await get(`${project.fullPath}/avatar`, rootToken);
    t.is(answer.status, 404);
    t.deepEqual(answer.json, { message: '404 Not Found' });
  }
});

test.serial('it is that of the default branch as it is now', async (t) => {
  const { project, tree, url } = await withFiles({ 'logo.png': 'first' });
  await tree.git('mv', 'logo.png', 'logo.gif');
  await tree.commit({ 'logo.gif': 'second' });
  await tree.git('push', '--quiet', url, 'HEAD:refs/heads/side');
  t.is((await get(`${project.fullPath}/avatar`)).text, 'first');
  await tree.git('push', '--quiet', url, 'master');
  const { text, headers } = await get(`${project.fullPath}/avatar`);
  t.is(text, 'second');
  t.is(headers['content-type'], 'image/gif');
});

test.serial('no other address is in its way, nor is it in theirs', async (t) => {
  const { app } = holder;
  const owner = await app.make.user();
  const sent = formOf({ name: 'file', filename: 'avatar', content: 'uploaded' });
  const json = { name: 'avatar', visibility_level: 20 };
  const { body: project } = await app.call<{ id: number; path_with_namespace: string }>(
    'POST',
    '/api/v3/projects',
    { as: owner.token, json },
  );
  const fullPath = project.path_with_namespace;
  const url = cloneUrl(app, { fullPath }, { password: owner.token });
  const tree = await trees.fresh();
  await tree.commit({ 'logo.png': 'picture' });
  await tree.git('push', '--quiet', url, 'master');
  t.is(await (await trees.clone(url)).head(), await tree.head());
  t.is((await get(`${fullPath}/avatar`)).text, 'picture');
  t.is((await get(`${fullPath.toUpperCase()}/avatar`)).text, 'picture');
  t.is((await get(fullPath)).status, 404);
  const upload = await app.call<{ url: string }>('POST', `/api/v3/projects/${project.id}/uploads`, {
    as: owner.token,
    ...sent,
  });
  t.regex(upload.body.url, /^\/uploads\/[0-9a-f]{32}\/avatar$/);
  t.is((await get(upload.body.url.slice(1))).text, 'uploaded');
  const posted = await get(`${fullPath}/avatar`, owner.token, 'POST');
  t.is(posted.status, 405);
  t.is(posted.headers.allow, 'HEAD, GET');
});

for (const [name, { cause }] of Object.entries(damages)) {
  test.serial(`${name} is no fault of this server`, async (t) => {
    const { logLines } = holder.app;
    const at = await withFiles({ 'logo.png': 'picture' });
    await cause({ dir: at.dir, sha: await at.tree.head() });
    const { status } = await get(`${at.project.fullPath}/avatar`);
    // What git had open before is still read.
    t.true([200, 404, 503].includes(status), `${status}`);
    logLines.splice(0, logLines.length, ...logLines.filter((line) => !line.includes('"level":50')));
  });
}
