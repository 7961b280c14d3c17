// Part of the test runner, before TypeScript can be loaded.
import { fileURLToPath } from 'node:url';
import { ensureDependencies } from '../../server/install.js';

const FOLDER = fileURLToPath(new URL('../clients', import.meta.url));

/**
 * Whether a run of these arguments may reach the tests of clients that others wrote.
 * @param {string[]} args of ava
 */
export function wantsClients(args) {
  const files = args.filter((arg) => /\.ts$/.test(arg));
  return files.length === 0 || files.some((file) => /clients|\*/.test(file));
}

/**
 * Installs the clients, which are a package of their own, unless they are there.
 * @param {NodeJS.ProcessEnv} env
 * @param {string} [folder] of the package
 * @returns {Promise<'1' | '0' | null>} '1' or '0' for the tests; null when clients are required and missing
 */
export async function ensureClients(env, folder = FOLDER) {
  try {
    // Without a registry one attempt tells; more would only keep everybody waiting.
    await ensureDependencies(env, { folder, options: ['--fetch-retries=0'] });
    return '1';
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    if (env.HEARTH_REQUIRE_CLIENTS === '1') {
      process.stderr.write(`HEARTH_REQUIRE_CLIENTS is 1, but the clients cannot be installed: ${message}\n`);
      return null;
    }
    process.stderr.write(`CLIENT TESTS SKIPPED: the clients cannot be installed: ${message}\n`);
    return '0';
  }
}
