import { execFileSync } from 'node:child_process';
import { chmod, mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ExecutionContext } from 'ava';
import type { FileEntry } from '../../runner/executor/executor.ts';
import { dockerTest, userImage } from '../support/docker.ts';
import { type DockerBuild, dockerBuild } from '../support/docker-build.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { signal } = new AbortController();
const time = new Date('2016-06-22T10:00:00Z');

dockerTest('sources come with modes, links, times and the repository', async (t) => {
  const build = await dockerBuild(t);
  await build.environment.importSources(await workingCopy(t), signal);
  const result = await build.run(
    'stat -c "%n %a %F" . run.sh data/text link .git; cat link; date -r run.sh +%s',
  );
  t.is(
    result.output,
    `${[
      '. 777 directory',
      'run.sh 777 regular file',
      'data/text 666 regular file',
      'link 777 symbolic link',
      '.git 777 directory',
      `hello\n${time.getTime() / 1000}`,
    ].join('\n')}\n`,
  );
});

dockerTest('files beyond the size of a buffer arrive whole', async (t) => {
  const from = await temporaryFolder(t);
  const content = Buffer.alloc(3_000_001, 'abcdefg');
  await writeFile(join(from, 'large'), content);
  const build = await dockerBuild(t);
  await build.environment.importSources(from, signal);
  const { output } = await build.run('wc -c < large');
  t.is(output.trim(), String(content.length));
  t.deepEqual(
    (await exported(build, ['large'])).map((entry) => entry.text.length),
    [content.length],
  );
});

dockerTest('a fault of the sources is reported as itself', async (t) => {
  const build = await dockerBuild(t);
  const error = await t.throwsAsync(build.environment.importSources('/does/not/exist', signal));
  t.regex(error?.message ?? '', /ENOENT.*\/does\/not\/exist/);
});

dockerTest('imported files replace what is there', async (t) => {
  const build = await dockerBuild(t);
  await build.environment.importSources(await workingCopy(t), signal);
  await build.environment.importFiles(
    files([
      { path: 'data', type: 'directory', mode: 0o755 },
      { path: 'data/text', type: 'file', mode: 0o640, content: 'new' },
      { path: 'run.sh', type: 'symlink', mode: 0o777, linkTarget: 'data/text' },
    ]),
    signal,
  );
  const result = await build.run('stat -c "%n %a %F" data/text run.sh; cat run.sh');
  t.is(result.output, 'data/text 640 regular file\nrun.sh 777 symbolic link\nnew');
});

dockerTest('imported files belong to the user of the image', async (t) => {
  const build = await dockerBuild(t, { docker: { image: await userImage('worker') } });
  await build.environment.importFiles(
    files([{ path: 'a', type: 'file', mode: 0o600, content: 'mine' }]),
    signal,
  );
  t.is((await build.run('cat a')).output, 'mine');
});

dockerTest('files go out with modes, times, links and content, after the script has ended', async (t) => {
  const build = await dockerBuild(t);
  await build.run(
    'mkdir -p out/sub; echo 1 > out/one; chmod 750 out/one; ln -s one out/link; echo 2 > out/sub/two',
  );
  await build.run('touch -d @1466589600 out/one', { kind: 'after_script' });
  const entries = await exported(build, ['out', 'missing', 'out/sub/two', './out/link/']);
  t.deepEqual(
    entries.map(({ path, type, text }) => [path, type, text]),
    [
      ['out', 'directory', ''],
      ['out/link', 'symlink', 'one'],
      ['out/one', 'file', '1\n'],
      ['out/sub', 'directory', ''],
      ['out/sub/two', 'file', '2\n'],
      ['out/sub/two', 'file', '2\n'],
      ['out/link', 'symlink', 'one'],
    ],
  );
  t.like(entries[2], { mode: 0o750, mtime: time, size: 2 });
});

dockerTest('the whole project directory can be asked for, and content left unread', async (t) => {
  const build = await dockerBuild(t);
  await build.run('seq 1 100000 > large; echo 2 > small');
  const seen: string[] = [];
  for await (const entry of build.environment.exportFiles([''], t.fail)) {
    seen.push(entry.path);
    if (entry.path === 'large') entry.content?.destroy();
  }
  t.deepEqual(seen, ['large', 'small']);
  for await (const entry of build.environment.exportFiles([''], t.fail)) {
    t.is(entry.path, 'large');
    break;
  }
});

dockerTest('the second name of a file has its content too', async (t) => {
  const build = await dockerBuild(t);
  await build.run('mkdir d; echo content > d/one; ln d/one d/two');
  t.deepEqual(
    (await exported(build, ['d'])).map(({ path, text }) => [path, text]),
    [
      ['d', ''],
      ['d/one', 'content\n'],
      ['d/two', 'content\n'],
    ],
  );
});

dockerTest('roots outside of the project and special files are left out with a warning', async (t) => {
  const build = await dockerBuild(t);
  await build.run('mkfifo pipe; ln -s /etc etc; mkdir real; echo 1 > real/file; ln -s real inside');
  const warnings: string[] = [];
  const entries = await exported(
    build,
    ['../../../etc/passwd', '/etc/passwd', 'etc/passwd', 'pipe'],
    warnings,
  );
  t.deepEqual(entries, []);
  t.is(warnings.length, 4);
  t.deepEqual(
    (await exported(build, ['inside/file', 'etc'])).map(({ path, text }) => [path, text]),
    [
      ['inside/file', '1\n'],
      ['etc', '/etc'],
    ],
  );
});

async function workingCopy(t: ExecutionContext): Promise<string> {
  const folder = await temporaryFolder(t);
  execFileSync('git', ['init', '--quiet', folder]);
  await mkdir(join(folder, 'data'));
  await writeFile(join(folder, 'data/text'), 'hello\n', { mode: 0o600 });
  await writeFile(join(folder, 'run.sh'), 'echo run\n');
  await chmod(join(folder, 'run.sh'), 0o700);
  await utimes(join(folder, 'run.sh'), time, time);
  await symlink('data/text', join(folder, 'link'));
  return folder;
}

type NewFile = Pick<FileEntry, 'path' | 'type' | 'mode' | 'linkTarget'> & { content?: string };

async function* files(list: NewFile[]): AsyncGenerator<FileEntry> {
  for (const { content = '', ...file } of list) {
    const body = file.type === 'file' ? Readable.from([Buffer.from(content)]) : undefined;
    yield { ...file, mtime: time, size: content.length, content: body };
  }
}

type ExportedFile = FileEntry & { text: string };

/** Entries with their content, or the target of a link, as text. Warnings are collected when a list is given. */
async function exported(build: DockerBuild, roots: string[], warnings?: string[]): Promise<ExportedFile[]> {
  const warn = (text: string) => {
    if (!warnings) throw new Error(`unexpected warning: ${text}`);
    warnings.push(text);
  };
  const entries: ExportedFile[] = [];
  for await (const entry of build.environment.exportFiles(roots, warn)) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry.content ?? []) chunks.push(Buffer.from(chunk));
    entries.push({ ...entry, text: entry.linkTarget ?? Buffer.concat(chunks).toString() });
  }
  return entries;
}
