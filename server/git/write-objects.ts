import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, deflate } from 'node:zlib';
import { toleratedFaults } from './environment.ts';
import { runGit } from './run-git.ts';

/** An object that is to be written. */
export interface NewObject {
  type: 'commit' | 'tree' | 'blob';
  sha: string;
  data: Buffer;
}

/** An object with its id, which exists nowhere yet. */
export function newObject(type: NewObject['type'], data: Buffer): NewObject {
  const sha = createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex');
  return { type, sha, data };
}

/** From so many objects on one pack costs less than a file, and a sync, for each of them. */
const packedFrom = 32;
const compress = promisify(deflate);
const packType = { commit: 1, tree: 2, blob: 3 };
const strict = `--strict=${toleratedFaults.map((fault) => `${fault}=ignore`).join(',')}`;

/**
 * Writes objects into a repository as a push of them would: by one process, with git's own checks, such as of names
 * and of submodules that do harm to who clones, and durable when it is over. No ref leads to them yet.
 *
 * @throws GitError when git refuses one; some of the others may have been written then, which does no harm.
 */
export async function writeObjects(dir: string, objects: readonly NewObject[]): Promise<void> {
  const unique = [...new Map(objects.map((object) => [object.sha, object])).values()];
  const isKept = unique.length >= packedFrom;
  const args = isKept ? ['index-pack', '--stdin', strict] : ['unpack-objects', '-q', strict];
  await runGit({ dir, args, input: await packOf(unique), attempted: `write ${unique.length} objects` });
}

async function packOf(objects: readonly NewObject[]): Promise<Buffer> {
  const header = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  header.writeUInt32BE(objects.length, 8);
  const parts: Buffer[] = [header];
  for (const { type, data } of objects) {
    // Git compresses once more what it does not keep as a pack.
    const packed = await compress(data, { level: constants.Z_BEST_SPEED });
    parts.push(entryHeader(packType[type], data.length), packed);
  }
  const hash = createHash('sha1');
  for (const part of parts) hash.update(part);
  return Buffer.concat([...parts, hash.digest()]);
}

/** Type and size: four bits of the size in the first byte, seven in each that follows, the lowest first. */
function entryHeader(type: number, size: number): Buffer {
  const bytes: number[] = [];
  let byte = (type << 4) | (size & 15);
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push(byte | 0x80);
    byte = rest & 0x7f;
  }
  return Buffer.from([...bytes, byte]);
}
