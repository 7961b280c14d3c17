// `npm run runner`: plain JavaScript, since it brings what TypeScript needs.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

if (!existsSync(`${root}/node_modules/tsx`) && !install()) {
  process.stderr.write('hearth-runner: npm ci failed; the lines above say why\n');
  process.exitCode = 1;
} else {
  const { register } = await import('tsx/esm/api');
  register();
  const { main } = await import('./main.ts');
  process.exitCode = await main(process.argv.slice(2), process.env);
}

/** Progress goes to stderr: stdout is for results. */
function install() {
  process.stderr.write('Installing dependencies (once, takes about a minute) …\n');
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  return spawnSync('npm', args, { cwd: root, stdio: ['ignore', 2, 2] }).status === 0;
}
