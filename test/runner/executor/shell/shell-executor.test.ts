import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import type {
  FileEntry,
  JobEnvironment,
  RunResult,
  ScriptRun,
} from '../../../../runner/executor/executor.ts';
import { createShellExecutor } from '../../../../runner/executor/shell/shell-executor.ts';
import type { BuildPayload } from '../../../../shared/protocol/build.ts';
import { makePayload } from '../../../support/build-payload.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

interface Prepared {
  directory: string;
  environment: JobEnvironment;
  warnings: string[];
  run(script: string, more?: Partial<ScriptRun>): Promise<RunResult>;
  output(): string;
}

const label = `test${process.pid}`;
const executor = createShellExecutor({
  label,
  environment: { PATH: process.env.PATH ?? '', HOME: '/nowhere' },
});

async function prepared(t: ExecutionContext, build: Partial<BuildPayload> = {}): Promise<Prepared> {
  const directory = join(await temporaryFolder(t), 'project');
  await mkdir(directory);
  const warnings: string[] = [];
  const environment = await executor.prepare({
    build: makePayload(build),
    hostProjectDir: directory,
    variables: [],
    slotName: 'slot',
    notice: async () => {},
    warn: async (line) => void warnings.push(line),
    signal: new AbortController().signal,
  });
  t.teardown(() => environment.cleanUp());
  let output = '';
  return {
    directory,
    environment,
    warnings,
    output: () => output,
    run: (script, more = {}) =>
      environment.run({
        kind: 'script',
        script,
        output: async (chunk) => {
          output += chunk;
        },
        signal: new AbortController().signal,
        ...more,
      }),
  };
}

function isAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch {
    return false;
  }
}

/** Zombies answer signals, too; their state tells them apart. */
async function isRunning(id: number): Promise<boolean> {
  const status = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => null);
  return status === null ? false : !/\) [ZX] /.test(status);
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const limit = AbortSignal.timeout(60_000);
  while (!(await condition())) {
    limit.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('a script runs in the project directory', async (t) => {
  const { directory, run, output } = await prepared(t);
  t.deepEqual(await run('pwd'), { exitCode: 0 });
  t.is(output(), `${directory}\n`);
});

test('bash runs it where there is one', async (t) => {
  const { run, output } = await prepared(t);
  await run('[ -n "$BASH_VERSION" ] && echo bash');
  t.is(output(), 'bash\n');
});

test('the exit code is that of the script', async (t) => {
  t.is((await (await prepared(t)).run('exit 7')).exitCode, 7);
});

test('a script killed by a signal ends with 128 and the number of it', async (t) => {
  t.is((await (await prepared(t)).run('kill -KILL $$')).exitCode, 137);
});

test('both outputs come in the order they were written', async (t) => {
  const { run, output } = await prepared(t);
  await run('for i in 1 2 3 4 5; do echo "out$i"; echo "err$i" >&2; done');
  t.is(output(), [1, 2, 3, 4, 5].map((i) => `out${i}\nerr${i}\n`).join(''));
});

test('nothing of the environment of the runner reaches the job', async (t) => {
  process.env.HEARTH_TEST_SECRET = 'leak';
  const { run, output } = await prepared(t);
  await run('env');
  t.false(output().includes('leak'));
  const names = output()
    .split('\n')
    .map((line) => line.replace(/=.*/s, ''));
  t.deepEqual(names.filter((name) => !['', '_', 'OLDPWD', 'PWD', 'SHLVL'].includes(name)).sort(), [
    'HEARTH_JOB',
    'HOME',
    'PATH',
  ]);
});

test('standard input is empty', async (t) => {
  t.is((await (await prepared(t)).run('cat')).exitCode, 0);
});

test('large output arrives whole, however slowly it is taken', async (t) => {
  const { run } = await prepared(t);
  let length = 0;
  await run('head -c 3000000 /dev/zero', {
    output: async (chunk) => {
      await new Promise((resolve) => setImmediate(resolve));
      length += chunk.length;
    },
  });
  t.is(length, 3_000_000);
});

test('a process left in the background does not hold the build, and is ended', async (t) => {
  const { run, output } = await prepared(t);
  const result = await run('sleep 1000 & echo "$!"; exit 3');
  t.is(result.exitCode, 3);
  t.false(await isRunning(Number(output())));
});

test('a process that left its group is ended as well', async (t) => {
  const { run, output } = await prepared(t);
  const stray = "setsid sh -c 'echo $$ >left; exec sleep 1000' &";
  await run(`${stray} until [ -s left ]; do sleep 0.02; done; cat left`);
  const id = Number(output().trim());
  t.true(id > 0);
  t.false(await isRunning(id));
});

test('a stop ends the script and its children, and run rejects with the reason', async (t) => {
  const { run, output } = await prepared(t);
  const controller = new AbortController();
  const running = run('sleep 1000 & echo "$!"; wait', { signal: controller.signal });
  await until(() => output().includes('\n'));
  controller.abort(new Error('canceled'));
  await t.throwsAsync(running, { message: 'canceled' });
  t.false(await isRunning(Number(output())));
});

test('a script may tidy up when it is told to end', async (t) => {
  const { directory, run, output } = await prepared(t);
  const controller = new AbortController();
  const script = "trap 'echo tidy >done; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
  const running = run(script, { signal: controller.signal });
  await until(() => output().includes('ready'));
  controller.abort(new Error('canceled'));
  await t.throwsAsync(running);
  t.is(await readFile(join(directory, 'done'), 'utf8'), 'tidy\n');
});

test('a script that ignores TERM is killed after the grace', async (t) => {
  const { run, output } = await prepared(t);
  const controller = new AbortController();
  const script = "trap '' TERM; echo $$; while :; do sleep 0.05; done";
  const running = run(script, { signal: controller.signal });
  await until(() => output().includes('\n'));
  controller.abort(new Error('canceled'));
  await t.throwsAsync(running, { message: 'canceled' });
  t.false(isAlive(Number(output())));
});

test('output that cannot be stored ends the script', async (t) => {
  const { run } = await prepared(t);
  const full = () => Promise.reject(new Error('disk full'));
  await t.throwsAsync(run('while :; do echo x; done', { output: full }), { message: 'disk full' });
});

test('leftovers of a dead runner are ended, those of live builds are not', async (t) => {
  const start = (build: number) =>
    spawn('sleep', ['1000'], { env: { PATH: process.env.PATH, HEARTH_JOB: `${label}-old/${build}` } });
  const [dead, live] = [start(1), start(2)];
  t.teardown(() => live.kill());
  const gone = once(dead, 'exit');
  await createShellExecutor({ label: `${label}-old`, environment: {} }).removeLeftovers(new Set([2]));
  await gone;
  t.is(live.exitCode, null);
  t.is(live.signalCode, null);
});

test('image and services of the job are said to be of no use', async (t) => {
  const { warnings } = await prepared(t, { options: { image: 'ruby', services: ['redis'] } });
  t.is(warnings.length, 2);
});

test('clean-up can be done twice', async (t) => {
  const { environment, directory } = await prepared(t);
  await environment.cleanUp();
  await environment.cleanUp();
  await t.throwsAsync(stat(`${directory}.tmp`), { code: 'ENOENT' });
});

async function listed(
  environment: JobEnvironment,
  roots: string[],
  warnings: string[] = [],
): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of environment.exportFiles(roots, (line) => warnings.push(line))) {
    const content = entry.content ? await text(entry.content) : '';
    found.push(`${entry.type} ${entry.path} ${entry.linkTarget ?? content}`.trim());
  }
  return found;
}

test('files are exported sorted, links as links', async (t) => {
  const { environment, directory } = await prepared(t);
  await mkdir(join(directory, 'out', 'deep'), { recursive: true });
  await writeFile(join(directory, 'out', 'b.txt'), 'B');
  await writeFile(join(directory, 'out', 'deep', 'a.txt'), 'A');
  await symlink('/etc', join(directory, 'out', 'link'));
  t.deepEqual(await listed(environment, ['out', 'missing', 'out/b.txt']), [
    'directory out',
    'file out/b.txt B',
    'directory out/deep',
    'file out/deep/a.txt A',
    'symlink out/link /etc',
    'file out/b.txt B',
  ]);
});

test('nothing outside of the project directory is exported', async (t) => {
  const { environment, directory } = await prepared(t);
  await mkdir(join(directory, '..', 'other'));
  await writeFile(join(directory, '..', 'other', 'secret'), 'S');
  await symlink('../other', join(directory, 'link'));
  const warnings: string[] = [];
  t.deepEqual(await listed(environment, ['link/secret', '../other', '/etc/hostname'], warnings), []);
  t.is(warnings.length, 3);
});

test('what is neither file, directory nor link is left out with a warning', async (t) => {
  const { environment, run } = await prepared(t);
  await run('mkfifo pipe');
  const warnings: string[] = [];
  t.deepEqual(await listed(environment, [''], warnings), []);
  t.true(warnings[0]?.startsWith('pipe:'));
});

async function* entries(...list: Partial<FileEntry>[]): AsyncGenerator<FileEntry> {
  for (const entry of list) {
    yield { path: '', type: 'file', mode: 0o644, mtime: new Date(1e12), size: 0, ...entry };
  }
}

const never = new AbortController().signal;

test('imported files replace what is there', async (t) => {
  const { environment, directory } = await prepared(t);
  await mkdir(join(directory, 'a', 'was-directory'), { recursive: true });
  await environment.importFiles(
    entries(
      { path: 'a', type: 'directory', mode: 0o755 },
      { path: 'a/was-directory', mode: 0o755, content: Readable.from(['new'], { objectMode: false }) },
      { path: 'deep/er/link', type: 'symlink', linkTarget: '../x' },
    ),
    never,
  );
  const path = join(directory, 'a', 'was-directory');
  t.is(await readFile(path, 'utf8'), 'new');
  const stats = await stat(path);
  t.is(stats.mode & 0o777, 0o755);
  t.is(stats.mtimeMs, 1e12);
});

for (const path of ['../outside', '/absolute', 'link/file', 'a/../../x']) {
  test(`an entry called ${path} is not written`, async (t) => {
    const { environment, directory } = await prepared(t);
    await mkdir(join(directory, '..', 'other'));
    await symlink('../other', join(directory, 'link'));
    await t.throwsAsync(environment.importFiles(entries({ path }), never));
    await t.throwsAsync(stat(join(directory, '..', 'other', 'file')), { code: 'ENOENT' });
  });
}

test('a link is replaced, not followed, by a file of its name', async (t) => {
  const { environment, directory } = await prepared(t);
  await writeFile(join(directory, '..', 'target'), 'old');
  await symlink('../target', join(directory, 'link'));
  await environment.importFiles(entries({ path: 'link' }), never);
  t.is(await readFile(join(directory, '..', 'target'), 'utf8'), 'old');
});
