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
type Kind = (typeof kinds)[number];

/**
 * The keys by which clients know this server again, made at its first start and kept in the data directory in the
 * format of OpenSSH.
 *
 * @throws StartError for a file that holds something else.
 */
export async function readHostKeys(dataDir: string): Promise<string[]> {
  return Promise.all(kinds.map((kind) => readHostKey(dataDir, kind)));
}

async function readHostKey(dir: string, kind: Kind): Promise<string> {
  const name = `ssh_host_${kind.type}_key`;
  const text = await readOrCreateFile({ dir, name, create: () => makeHostKey(kind) });
  if (!isPrivateKey(text)) {
    throw new StartError(
      `${name} in ${dir} is no private key`,
      'restore the file from a backup, or remove it: users are then warned that the server has changed',
    );
  }
  return text;
}

/** Private key in the format of OpenSSH. */
export async function makeHostKey({ type, options }: Kind): Promise<string> {
  for (;;) {
    const { private: text } = await generate(type, { ...options, comment: 'Hearth' });
    // The library writes one in 256 Ed25519 keys so that nobody can read it: it leaves out a zero at the beginning.
    if (isPrivateKey(text)) return text;
  }
}

function isPrivateKey(text: string): boolean {
  const key = utils.parseKey(text);
  return !(key instanceof Error) && key.isPrivateKey();
}
