import { request } from 'node:http';
import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git } from '../git/real-git.ts';
import { withApp } from '../support/app.ts';
import type { MadeProject } from '../support/make.ts';
import { poll, processesAbout } from '../support/program.ts';
import { commitTree, emptyBlob, submodule, writeBlob, writeTree } from '../support/trees.ts';

const holder = withApp();

interface Got {
  status: number;
  headers: Headers;
  body: Buffer;
}

interface Scene {
  project: MadeProject;
  dir: string;
  get(path: string, method?: string): Promise<Got>;
}

async function scene(): Promise<Scene> {
  const project = await holder.app.make.project({ columns: { default_branch: 'master' } });
  return {
    project,
    dir: repositoryDir(holder.app.services.repositoriesDir, project.id),
    async get(path, method = 'GET') {
      const url = `${holder.app.url}/api/v3/projects/${project.id}/repository/${path}`;
      const answer = await fetch(url, { method, headers: { 'PRIVATE-TOKEN': project.owner.token } });
      const body = Buffer.from(await answer.arrayBuffer());
      return { status: answer.status, headers: answer.headers, body };
    },
  };
}

const safe = {
  'content-type': 'text/plain',
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
};

test('a file is its bytes, as plain text that runs nothing, by branch, tag and id and under both paths', async (t) => {
  const at = await scene();
  const page = await writeBlob(at.dir, '<script>alert(1)</script>\r\n');
  const inner = await writeTree(at.dir, [`100644 blob ${page}\tindex.html`]);
  const tree = await writeTree(at.dir, [`040000 tree ${inner}\tweb`]);
  const sha = await commitTree(at.dir, tree);
  for (const ref of ['feature/a.b', 'x/blob', 'topic/commits/blob']) {
    await git(at.dir, 'update-ref', `refs/heads/${ref}`, sha);
  }
  await git(at.dir, 'update-ref', 'refs/tags/v1.0', sha);
  const names = ['master', 'v1.0', sha, sha.slice(0, 7), 'feature/a.b', 'feature%2Fa.b', 'refs/tags/v1.0'];
  for (const name of [...names, 'x/blob', 'x%2Fblob', 'topic/commits/blob']) {
    for (const path of [`blobs/${name}`, `commits/${name}/blob`]) {
      const { status, headers, body } = await at.get(`${path}?filepath=web/index.html`);
      t.is(status, 200, path);
      t.is(body.toString(), '<script>alert(1)</script>\r\n');
      t.like(Object.fromEntries(headers), { ...safe, 'content-length': '27' });
      t.is(headers.get('content-disposition'), 'inline; filename="index.html"');
    }
  }
});

test('faults of a request for a file', async (t) => {
  const at = await scene();
  const inner = await writeTree(at.dir, [`100644 blob ${emptyBlob}\tx`]);
  await commitTree(
    at.dir,
    await writeTree(at.dir, [
      `040000 tree ${inner}\tdir`,
      `160000 commit ${submodule}\tmodule`,
      `100644 blob ${'2'.repeat(40)}\tlost`,
    ]),
  );
  const faults: [string, number, string][] = [
    ['blobs/master', 400, '400 (Bad request) "filepath" not given'],
    ['blobs/nowhere', 400, '400 (Bad request) "filepath" not given'],
    ['blobs/nowhere?filepath=x', 404, '404 Commit Not Found'],
    ['blobs/master~0?filepath=x', 404, '404 Commit Not Found'],
    ['blobs/-h?filepath=x', 404, '404 Commit Not Found'],
    ['commits/nowhere/blob?filepath=x', 404, '404 Commit Not Found'],
  ];
  for (const path of [
    'nothing',
    'dir',
    'dir/',
    'dir//x',
    'module',
    'module/x',
    'lost',
    '../x',
    'dir/../dir/x',
    '/',
  ]) {
    faults.push([`blobs/master?filepath=${path}`, 404, '404 File Not Found']);
  }
  for (const sha of [
    'f'.repeat(40),
    inner,
    await git(at.dir, 'rev-parse', 'master'),
    'master',
    'abc',
    '-h',
  ]) {
    faults.push([`raw_blobs/${sha}`, 404, '404 Blob Not Found']);
  }
  for (const [path, status, message] of faults) {
    const answer = await at.get(path);
    t.deepEqual([answer.status, JSON.parse(answer.body.toString())], [status, { message }], path);
  }
});

test('a blob is read by its id, and not from another repository', async (t) => {
  const [at, other] = [await scene(), await scene()];
  const bytes = Buffer.from([0, 255, 13, 10, 0xc3]);
  const id = await writeBlob(at.dir, bytes);
  const { status, headers, body } = await at.get(`raw_blobs/${id}`);
  t.deepEqual([status, body], [200, bytes]);
  t.like(Object.fromEntries(headers), { ...safe, 'content-length': '5', 'content-disposition': 'inline' });
  for (const name of [id.toUpperCase(), id.slice(0, 4), id.slice(0, 6).toUpperCase()]) {
    t.deepEqual((await at.get(`raw_blobs/${name}`)).body, bytes, name);
  }
  t.is((await other.get(`raw_blobs/${id}`)).status, 404);
  const nothing = await writeBlob(at.dir, '');
  const empty = await at.get(`raw_blobs/${nothing}`);
  t.deepEqual([empty.status, empty.body.length, empty.headers.get('content-length')], [200, 0, '0']);
});

test('files of any name are found, a link is where it leads, and a file may be called like a branch', async (t) => {
  const at = await scene();
  const names = [
    'two words',
    '"q"',
    'line\nbreak',
    '-n',
    'a:b',
    'master',
    'caf\u00e9',
    'cafe\u0301',
    '%2e',
    '\\',
  ];
  const lines: string[] = [];
  for (const name of names) {
    lines.push(
      `100644 blob ${await writeBlob(at.dir, `of ${name}`)}\t${Buffer.from(name).toString('latin1')}`,
    );
  }
  const link = await writeBlob(at.dir, '/etc/passwd');
  const latin = await writeBlob(at.dir, 'of latin-1');
  lines.push(`120000 blob ${link}\tlink`, `100644 blob ${latin}\tna\u00efve`);
  await commitTree(at.dir, await writeTree(at.dir, lines));
  const read = async (name: string) =>
    (await at.get(`blobs/master?filepath=${encodeURIComponent(name)}`)).body.toString();
  for (const name of names) t.is(await read(name), `of ${name}`);
  for (const name of names) t.is(await read(`//${name}`), `of ${name}`);
  t.is(await read('link'), '/etc/passwd');
  t.is(await read('na\u00efve'), 'of latin-1');
  const { headers } = await at.get('blobs/master?filepath=caf%C3%A9');
  t.is(headers.get('content-disposition'), `inline; filename="caf_"; filename*=UTF-8''caf%C3%A9`);
});

test('large files pass through whole, HEAD tells their size, and git ends with a client that goes away', async (t) => {
  const at = await scene();
  const content = Buffer.alloc(20 * 1024 * 1024, 'large ');
  const id = await writeBlob(at.dir, content);
  await commitTree(at.dir, await writeTree(at.dir, [`100644 blob ${id}\tlarge`]));
  for (const path of [`raw_blobs/${id}`, 'blobs/master?filepath=large']) {
    const { body, headers } = await at.get(path);
    t.true(body.equals(content));
    t.is(headers.get('content-length'), String(content.length));
    const head = await at.get(path, 'HEAD');
    t.deepEqual([head.status, head.body.length], [200, 0]);
    t.is(head.headers.get('content-length'), String(content.length));
  }
  const running = async () =>
    (await processesAbout(at.dir)).filter((line) => line.includes(`cat-file blob ${id}`));
  t.deepEqual(await running(), []);
  const url = `${holder.app.url}/api/v3/projects/${at.project.id}/repository/raw_blobs/${id}`;
  const call = request(url, { headers: { 'PRIVATE-TOKEN': at.project.owner.token } });
  await new Promise<void>((resolve) => {
    call.once('response', (answer) => answer.once('readable', resolve));
    call.end();
  });
  t.is((await running()).length, 1);
  call.destroy();
  await poll('end of git', 30_000, async () => (await running()).length === 0 || null);
  t.pass();
});
