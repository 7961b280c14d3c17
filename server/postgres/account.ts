import { readFile, stat } from 'node:fs/promises';
import { StartError } from '../start-error.ts';

/** The operating system user that PostgreSQL runs as. */
export interface Account {
  uid: number;
  gid: number;
}

const NOBODY: Account = { uid: 65534, gid: 65534 };

/**
 * PostgreSQL refuses to run as root, so root hands it to another existing user: the owner of the cluster when
 * there is one, else `nobody`. Gives null for everybody else, who runs PostgreSQL as themselves.
 */
export async function postgresAccount(cluster: string): Promise<Account | null> {
  const own = process.getuid?.();
  if (own === undefined) return null;
  const owner = await ownerOf(cluster);
  if (own === 0) return owner !== null && owner.uid !== 0 ? owner : await findNobody();
  if (owner !== null && owner.uid !== own) {
    throw new StartError(
      `the database in ${cluster} belongs to user ${owner.uid}, but this is user ${own}`,
      'start as the user who created the data directory (or as root), or change its owner',
    );
  }
  return null;
}

async function ownerOf(path: string): Promise<Account | null> {
  try {
    const { uid, gid } = await stat(path);
    return { uid, gid };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function findNobody(): Promise<Account> {
  const users = await readFile('/etc/passwd', 'utf8').catch(() => ''); // a minimal image may have no such file
  const [, , uid, gid] = users.match(/^nobody:.*$/m)?.[0].split(':') ?? [];
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : NOBODY;
}
