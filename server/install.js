// Runs before any dependency is there: plain JavaScript, nothing but Node's own modules.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const OLDEST_NODE = [20, 12];
/** The first that merges without a work tree. */
const OLDEST_GIT = [2, 38];

/**
 * What this machine lacks to run Hearth, one line each.
 * @returns {string[]}
 */
export function missingTools() {
  const missing = [];
  if (isOlder(process.versions.node, OLDEST_NODE)) {
    missing.push(`Node.js ${OLDEST_NODE.join('.')} or later is needed, this is ${process.versions.node}`);
  }
  const git = spawnSync('git', ['--version'], { encoding: 'utf8' });
  if (git.error) {
    missing.push(
      'git is needed and was not found on PATH: install it with the package manager of this system',
    );
  } else if (isOlder(git.stdout.replace(/^\D*/, ''), OLDEST_GIT)) {
    missing.push(`git ${OLDEST_GIT.join('.')} or later is needed, this is ${git.stdout.trim()}`);
  }
  return missing;
}

/**
 * Installs the dependencies when they are missing or belong to another package-lock.json. Install scripts stay
 * off: nothing here needs them.
 * @param {NodeJS.ProcessEnv} env
 * @param {{ folder?: string, options?: string[] }} [more] the folder of the package, and more options of npm
 */
export async function ensureDependencies(env, { folder = ROOT, options = [] } = {}) {
  if (isInstalled(folder)) return;
  process.stderr.write('Installing dependencies (once, takes about a minute) …\n');
  const [program, ...first] = npmCommand(env);
  const args = [...first, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', ...options];
  // Progress belongs to stderr; stdout is for results.
  const child = spawn(program ?? 'npm', args, { cwd: folder, stdio: ['ignore', 2, 2] });
  const [code] = await once(child, 'exit').catch((error) => [error.message]);
  if (code !== 0) throw new Error(`npm ci failed (${code}); the lines above say why`);
  mark(folder);
}

/** @param {string} folder */
function isInstalled(folder) {
  if (read(markerOf(folder)) === lockHash(folder)) return true;
  // Installed by hand: npm's own record is then newer than the lock file it was made from.
  const record = join(folder, 'node_modules', '.package-lock.json');
  const isNewer = modified(record) >= modified(lockFileOf(folder));
  if (isNewer) mark(folder);
  return isNewer;
}

/** @param {string} folder */
function mark(folder) {
  try {
    writeFileSync(markerOf(folder), lockHash(folder));
  } catch {
    // A node_modules of another user works as well; the next start compares the times again.
  }
}

/** @param {string} folder */
function markerOf(folder) {
  return join(folder, 'node_modules', '.hearth-installed');
}

/** @param {string} folder */
function lockFileOf(folder) {
  return join(folder, 'package-lock.json');
}

/** @param {string} folder */
function lockHash(folder) {
  return createHash('sha256')
    .update(readFileSync(lockFileOf(folder)))
    .digest('hex');
}

/**
 * The npm that started this script, else the one on PATH.
 * @param {NodeJS.ProcessEnv} env
 */
function npmCommand(env) {
  const running = env.npm_execpath ?? '';
  return /\bnpm-cli\.c?js$/.test(running) ? [process.execPath, running] : ['npm'];
}

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // not there
  }
}

/** @param {string} path */
function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/**
 * @param {string} version
 * @param {number[]} oldest
 */
function isOlder(version, oldest) {
  const parts = version.split('.').map((part) => Number.parseInt(part, 10));
  const at = oldest.findIndex((part, index) => part !== parts[index]);
  return at !== -1 && !((parts[at] ?? 0) > (oldest[at] ?? 0));
}
