import { execFile } from 'node:child_process';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import test from 'ava';
import { archiveFormat } from '../../server/git/archive.ts';
import { GitError } from '../../server/git/errors.ts';
import { ProgramMissingError, pipeThrough } from '../../server/git/pipe-through.ts';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { streamGit } from '../../server/git/stream-git.ts';
import { git } from '../git/real-git.ts';
import { withApp } from '../support/app.ts';
import { withWorkTrees } from '../support/git.ts';
import type { MadeProject } from '../support/make.ts';
import { poll, processesAbout } from '../support/program.ts';
import { commitTree, submodule, writeBlob, writeTree } from '../support/trees.ts';

const holder = withApp();
const trees = withWorkTrees();
const run = promisify(execFile);

interface Scene {
  project: MadeProject;
  dir: string;
  /** Tip of master. */
  sha: string;
  get(path: string, method?: string): Promise<{ status: number; headers: Headers; body: Buffer }>;
}

async function scene(): Promise<Scene> {
  const project = await holder.app.make.project({ columns: { default_branch: 'master' } });
  const dir = repositoryDir(holder.app.services.repositoriesDir, project.id);
  const inner = await writeTree(dir, [`100755 blob ${await writeBlob(dir, 'run\n')}\trun`]);
  const lines = [
    `040000 tree ${inner}\tbin`,
    `100644 blob ${await writeBlob(dir, 'Read me\n'.repeat(1000))}\tREADME`,
    `120000 blob ${await writeBlob(dir, 'README')}\tlink`,
    `160000 commit ${submodule}\tmodule`,
  ];
  const sha = await commitTree(dir, await writeTree(dir, lines));
  return {
    project,
    dir,
    sha,
    async get(path, method = 'GET') {
      const url = `${holder.app.url}/api/v3/projects/${project.id}/repository/${path}`;
      const answer = await fetch(url, { method, headers: { 'PRIVATE-TOKEN': project.owner.token } });
      const body = Buffer.from(await answer.arrayBuffer());
      return { status: answer.status, headers: answer.headers, body };
    },
  };
}

/** The formats with the option by which tar unpacks them. */
const formats: Record<string, { suffixes: string[]; flag: string }> = {
  'tar.gz': { suffixes: ['', '.tar.gz', '.tgz', '.gz', '.TGZ', '.rar', '.constructor'], flag: '--gzip' },
  'tar.bz2': { suffixes: ['.tar.bz2', '.tbz', '.tbz2', '.tb2', '.bz2'], flag: '--bzip2' },
  tar: { suffixes: ['.tar'], flag: '--no-auto-compress' },
};

for (const [format, { suffixes, flag }] of Object.entries(formats)) {
  test(`${format} holds the files of the default branch in one folder, and is the same each time`, async (t) => {
    const at = await scene();
    const name = `${at.project.path}-master-${at.sha}`;
    let first: Buffer | null = null;
    for (const suffix of suffixes) {
      const { status, headers, body } = await at.get(`archive${suffix}`);
      t.is(status, 200, suffix);
      t.like(Object.fromEntries(headers), {
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename="${name}.${format}"`,
        'content-transfer-encoding': 'binary',
        'cache-control': 'private',
      });
      t.true(body.equals(first ?? body), suffix);
      first = body;
    }
    const folder = await trees.folder();
    await writeFile(join(folder, 'archive'), first ?? '');
    const { stdout } = await run('tar', ['--list', flag, '--file', join(folder, 'archive')]);
    t.deepEqual(stdout.trim().split('\n'), [
      `${name}/`,
      `${name}/README`,
      `${name}/bin/`,
      `${name}/bin/run`,
      `${name}/link`,
      `${name}/module/`,
    ]);
    await run('tar', ['--extract', flag, '--file', join(folder, 'archive'), '--directory', folder]);
    t.is((await stat(join(folder, name, 'bin/run'))).mode & 0o111, 0o111);
  });
}

test('zip holds the same, and is the same each time', async (t) => {
  const at = await scene();
  const { headers, body } = await at.get('archive.zip');
  t.is(headers.get('content-type'), 'application/zip');
  const name = `${at.project.path}-master-${at.sha}`;
  t.is(headers.get('content-disposition'), `attachment; filename="${name}.zip"`);
  t.is(body.toString('latin1', 0, 4), 'PK\u0003\u0004');
  t.true(body.includes(`${name}/bin/run`));
  t.true((await at.get('archive.zip')).body.equals(body));
});

test('without a suffix a parameter says the format', async (t) => {
  const at = await scene();
  const asked: Record<string, string> = {
    zip: 'zip',
    tar: 'tar',
    'tar.gz': 'tar.gz',
    tgz: 'tar.gz',
    gz: 'tar.gz',
  };
  for (const suffix of ['tar.bz2', 'tbz', 'tbz2', 'tb2', 'bz2']) asked[suffix] = 'tar.bz2';
  for (const [suffix, format] of Object.entries(asked)) {
    const { status, headers } = await at.get(`archive?format=${suffix}`, 'HEAD');
    t.is(status, 200, suffix);
    t.true(headers.get('content-disposition')?.endsWith(`-${at.sha}.${format}"`), suffix);
  }
  const both = await at.get('archive.tar?format=zip', 'HEAD');
  t.true(both.headers.get('content-disposition')?.endsWith('.tar"'));
  t.true((await at.get('archive?format=', 'HEAD')).headers.get('content-disposition')?.endsWith('.tar.gz"'));
  for (const format of ['rar', 'constructor', 'tar.xz']) {
    const { status, body } = await at.get(`archive?format=${format}`);
    t.deepEqual([status, body.toString()], [400, '{"message":{"format":["is not included in the list"]}}']);
  }
});

test('a state is named by branch, tag or id; the name of the file says how it was asked for', async (t) => {
  const at = await scene();
  await git(at.dir, 'update-ref', 'refs/heads/feature/"é"', at.sha);
  await git(at.dir, 'update-ref', 'refs/tags/v1.0', at.sha);
  const names: [string, string][] = [
    ['v1.0', 'filename="PATH-v1.0-SHA.tar"'],
    [at.sha, 'filename="PATH-SHA-SHA.tar"'],
    [
      'feature/"é"',
      `filename="PATH-feature-___-SHA.tar"; filename*=UTF-8''PATH-feature-%22%C3%A9%22-SHA.tar`,
    ],
  ];
  for (const [ref, expected] of names) {
    const { status, headers, body } = await at.get(`archive.tar?sha=${encodeURIComponent(ref)}`);
    t.is(status, 200, ref);
    const header = expected.replaceAll('PATH', at.project.path).replaceAll('SHA', at.sha);
    t.is(headers.get('content-disposition'), `attachment; ${header}`);
    t.true(body.includes(Buffer.from(`${at.project.path}-${ref.replace('/', '-')}-${at.sha}/README`)));
  }
  for (const ref of ['nowhere', 'master~0', '--output=/tmp/x', `${at.sha}:bin`, 'f'.repeat(40)]) {
    const { status, body } = await at.get(`archive?sha=${encodeURIComponent(ref)}`);
    t.deepEqual([status, body.toString()], [404, '{"message":"404 File Not Found"}'], ref);
  }
});

test('an empty repository has no archive', async (t) => {
  const project = await holder.app.make.project({ columns: { default_branch: null } });
  const path = `/api/v3/projects/${project.id}/repository/archive`;
  const answer = await holder.app.call('GET', path, { as: project.owner.token });
  t.like(answer, { status: 404, body: { message: '404 File Not Found' } });
});

test('HEAD answers like GET, without the work', async (t) => {
  const at = await scene();
  for (const suffix of ['', '.zip', '.tar.bz2']) {
    const { status, headers, body } = await at.get(`archive${suffix}`, 'HEAD');
    t.deepEqual([status, body.length], [200, 0]);
    t.regex(headers.get('content-disposition') ?? '', /^attachment; filename="/);
  }
  await poll(
    'end of every process',
    30_000,
    async () => (await processesAbout(at.dir)).every((line) => line.includes('--batch-command')) || null,
  );
  t.pass();
});

test('an archive that breaks off does not look whole', async (t) => {
  const at = await scene();
  const lost = await writeTree(at.dir, [`100644 blob ${'3'.repeat(40)}\tlost`]);
  await commitTree(at.dir, lost, 'refs/heads/broken');
  for (const suffix of ['.tar', '.tar.gz', '.tar.bz2'])
    await t.throwsAsync(at.get(`archive${suffix}?sha=broken`));
});

test('only known ends of names mean something', (t) => {
  t.is(archiveFormat('zip'), 'zip');
  t.is(archiveFormat('tb2'), 'tar.bz2');
  for (const suffix of ['', 'tar.xz', 'toString', '__proto__']) t.is(archiveFormat(suffix), 'tar.gz');
});

test('a program that is not there is an error of its own, and what it should have read is given up', async (t) => {
  const source = Readable.from(['a']);
  const error = await t.throwsAsync(pipeThrough(source, 'no-such-program', []), {
    instanceOf: ProgramMissingError,
  });
  t.is((error as ProgramMissingError).program, 'no-such-program');
  t.true(source.destroyed);
});

test('what a program makes of a stream fails when the stream or the program does', async (t) => {
  const cat = async (source: Readable) =>
    Buffer.concat(await (await pipeThrough(source, 'cat', [])).toArray());
  t.is((await cat(Readable.from(['a', 'b'].map((text) => Buffer.from(text))))).toString(), 'ab');
  async function* broken() {
    yield Buffer.from('a');
    throw new Error('the source broke');
  }
  await t.throwsAsync(cat(Readable.from(broken())), { message: 'the source broke' });
  const failing = await pipeThrough(Readable.from([Buffer.from('a')]), 'false', []);
  await t.throwsAsync(failing.toArray());
});

test('the output of a command that fails is cut off, with what git said', async (t) => {
  const at = await scene();
  const stream = streamGit({ dir: at.dir, args: ['cat-file', 'blob', '4'.repeat(40)], attempted: 'read' });
  const error = await t.throwsAsync(stream.toArray(), { instanceOf: GitError });
  t.regex(error?.message ?? '', /^read: fatal/);
});
