import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { temporaryFolder } from '../support/temporary-folder.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const INSTALL =
  "const { ensureDependencies } = await import('./server/install.js'); await ensureDependencies({});";
const MESSAGE = /Installing dependencies/;

const OWN = { name: 'sample', version: '1.0.0', type: 'module', dependencies: { local: 'file:local' } };

/** A package with Hearth's way to install, and one dependency that needs no registry. */
async function samplePackage(t: ExecutionContext): Promise<string> {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'server'));
  await mkdir(join(folder, 'local'));
  await cp(join(ROOT, 'server', 'install.js'), join(folder, 'server', 'install.js'));
  await writeFile(join(folder, 'package.json'), JSON.stringify(OWN));
  await writeFile(join(folder, 'local', 'package.json'), '{"name":"local","version":"1.0.0"}');
  await writeLock(folder, {});
  return folder;
}

async function writeLock(folder: string, extra: object): Promise<void> {
  const packages = {
    '': OWN,
    local: { version: '1.0.0' },
    'node_modules/local': { resolved: 'local', link: true },
  };
  const lock = { ...OWN, lockfileVersion: 3, requires: true, packages, ...extra };
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
}

async function install(folder: string): Promise<string> {
  const options = { cwd: folder, env: { ...process.env, npm_config_cache: join(folder, 'cache') } };
  return (await run(process.execPath, ['--input-type=module', '--eval', INSTALL], options)).stderr;
}

test('missing dependencies are installed once, and again when the lock file changes', async (t) => {
  const folder = await samplePackage(t);
  t.regex(await install(folder), MESSAGE);
  t.is(await install(folder), '');
  await writeLock(folder, { comment: 'changed' });
  t.regex(await install(folder), MESSAGE);
  t.is(await install(folder), '');
});

test('a lock file that was only touched installs nothing', async (t) => {
  const folder = await samplePackage(t);
  await install(folder);
  const later = new Date(Date.now() + 3_600_000);
  await utimes(join(folder, 'package-lock.json'), later, later);
  t.is(await install(folder), '');
});

test('dependencies that were installed by hand are taken as they are', async (t) => {
  const folder = await samplePackage(t);
  await install(folder);
  await rm(join(folder, 'node_modules', '.hearth-installed'), { force: true });
  await writeFile(join(folder, 'node_modules', '.package-lock.json'), '{}');
  t.is(await install(folder), '');
  t.regex(await readFile(join(folder, 'node_modules', '.hearth-installed'), 'utf8'), /^[0-9a-f]{64}$/);
});

test('a failed installation is an error and is tried again', async (t) => {
  const folder = await samplePackage(t);
  await writeFile(join(folder, 'package-lock.json'), 'no lock file');
  await t.throwsAsync(install(folder), { message: /npm ci failed/ });
  await t.throwsAsync(install(folder), { message: /npm ci failed/ });
});

test('a machine without git is told so before anything is installed', async (t) => {
  const start = run(process.execPath, ['server/start.js'], { cwd: ROOT, env: { PATH: '/nowhere' } });
  const error = await t.throwsAsync(start, { code: 1 });
  t.regex(
    String((error as Error & { stderr?: string }).stderr),
    /^hearth: git is needed and was not found on PATH/,
  );
});
