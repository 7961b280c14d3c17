import { promisify } from 'node:util';
import ssh2 from 'ssh2';
import { readOrCreateFile } from '../data-dir.ts';
import { StartError } from '../start-error.ts';

const { utils } = ssh2;
const generate = promisify(utils.generateKeyPair) as (
  type: 'ed25519' | 'rsa',
  options: { bits?: number; comment: string },
) => Promise<{ private: string }>;

/** The modern one first: it is what clients are offered. RSA is for old ones. */
const kinds = [
  { type: 'ed25519', options: {} },
  { type: 'rsa', options: { bits: 3072 } },
] as const;

/**
 * The keys by which clients know this server again, made at its first start and kept in the data directory in the
 * format of OpenSSH.
 *
 * @throws StartError for a file that holds something else.
 */
export async function readHostKeys(dataDir: string): Promise<string[]> {
  return Promise.all(kinds.map((kind) => readHostKey(dataDir, kind)));
}

async function readHostKey(dir: string, { type, options }: (typeof kinds)[number]): Promise<string> {
  const name = `ssh_host_${type}_key`;
  const comment = 'Hearth';
  const create = async () => (await generate(type, { ...options, comment })).private;
  const text = await readOrCreateFile({ dir, name, create });
  const key = utils.parseKey(text);
  if (key instanceof Error || !key.isPrivateKey()) {
    throw new StartError(
      `${name} in ${dir} is no private key`,
      'restore the file from a backup, or remove it: users are then warned that the server has changed',
    );
  }
  return text;
}
