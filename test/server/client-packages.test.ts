import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { wantsClients } from '../support/client-packages.js';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MODULE = fileURLToPath(new URL('../support/client-packages.js', import.meta.url));
const SCRIPT = `
  const { ensureClients } = await import(process.argv[1]);
  process.stdout.write(String(await ensureClients(process.env, process.argv[2])));
`;

/** Installs a package that only a registry has, where none answers. */
async function installOffline(t: ExecutionContext, variables: Record<string, string> = {}) {
  const folder = await temporaryFolder(t);
  const own = { name: 'sample', version: '1.0.0', dependencies: { absent: '1.0.0' } };
  const packages = { '': own, 'node_modules/absent': { version: '1.0.0' } };
  const lock = { ...own, lockfileVersion: 3, requires: true, packages };
  await writeFile(join(folder, 'package.json'), JSON.stringify(own));
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const npm = {
    npm_config_cache: join(folder, 'cache'),
    npm_config_registry: 'http://127.0.0.1:1',
    npm_config_userconfig: join(folder, 'npmrc'),
  };
  const { HEARTH_REQUIRE_CLIENTS: _required, ...env } = process.env;
  const options = { env: { ...env, ...npm, ...variables } };
  const args = ['--input-type=module', '--eval', SCRIPT, MODULE, folder];
  return promisify(execFile)(process.execPath, args, options);
}

test('clients that cannot be installed are skipped in one loud line', async (t) => {
  const { stdout, stderr } = await installOffline(t);
  t.is(stdout, '0');
  t.regex(stderr, /^CLIENT TESTS SKIPPED: the clients cannot be installed: npm ci failed/m);
});

test('clients that cannot be installed end the run where they are required', async (t) => {
  const { stdout, stderr } = await installOffline(t, { HEARTH_REQUIRE_CLIENTS: '1' });
  t.is(stdout, 'null');
  t.regex(stderr, /^HEARTH_REQUIRE_CLIENTS is 1, but the clients cannot be installed/m);
});

test('clients are installed for runs that may reach their tests', (t) => {
  t.true(wantsClients([]));
  t.true(wantsClients(['--verbose']));
  t.true(wantsClients(['test/clients/clients.test.ts']));
  t.true(wantsClients(['test/**/*.test.ts']));
  t.false(wantsClients(['--verbose', 'test/api/users.test.ts']));
});
