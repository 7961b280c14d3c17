import { randomBytes } from 'node:crypto';
import { constants, type Dirent, existsSync } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, readdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { StartError } from '../start-error.ts';

interface CopyRequest {
  packageDir: string;
  links: { source: string; target: string }[];
  name: string;
  parents: string[];
}

/**
 * Folder `native` of the package, copied to the first of `parents` that can hold it, readable for every user.
 * A copy that is there already is used when its files have the names and sizes of the package's.
 */
export async function copyOfPackage(request: CopyRequest): Promise<string> {
  const source = join(request.packageDir, 'native');
  const wanted = (await fingerprint(source)) ?? '';
  const failures: string[] = [];
  for (const parent of request.parents) {
    try {
      await ensureTrustedFolder(parent);
      const target = join(parent, request.name);
      if ((await fingerprint(target)) === wanted) return target;
      await makeCopy({ source, target, wanted, links: request.links });
      if ((await fingerprint(target)) === wanted) return target;
      failures.push(`${target}: the copy is incomplete`);
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  throw new StartError(
    `PostgreSQL needs a copy of its programs, and none could be made: ${failures.join('; ')}`,
    `make ${request.parents[0]} writable, or set DATABASE_URL to an existing PostgreSQL`,
  );
}

/** Programs are run from here: nobody else may be able to replace them. */
async function ensureTrustedFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o755 });
  const { uid, mode } = await lstat(path);
  if (uid === process.getuid?.() && (mode & 0o022) === 0) return;
  throw new Error(`${path} can be changed by other users`);
}

interface Copy {
  source: string;
  target: string;
  wanted: string;
  links: CopyRequest['links'];
}

async function makeCopy(copy: Copy): Promise<void> {
  const aside = `${copy.target}.${randomBytes(6).toString('hex')}`;
  try {
    for (const file of await payload(copy.source)) {
      await copyProgramFile(join(copy.source, file), join(aside, file));
    }
    for (const link of copy.links) {
      await symlink(basename(link.source), join(aside, relative('native', link.target)));
    }
    await openFolders(aside);
    await putInPlace(aside, copy);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** Another process may have made its copy meanwhile and run programs from it already: a good one stays. */
async function putInPlace(aside: string, { target, wanted }: Copy): Promise<void> {
  if (existsSync(target)) {
    if ((await fingerprint(target)) === wanted) return;
    const damaged = `${aside}.damaged`;
    await rename(target, damaged);
    await rm(damaged, { recursive: true, force: true });
  }
  await rename(aside, target).catch((error) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error; // the caller checks what is there
  });
}

async function copyProgramFile(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  await chmod(to, (await stat(from)).mode & 0o100 ? 0o755 : 0o644);
}

async function openFolders(root: string): Promise<void> {
  await chmod(root, 0o755);
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), 0o755);
  }
}

/** Relative paths of the files that running PostgreSQL needs; static libraries are a fifth of the package. */
async function payload(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry: Dirent) => entry.isFile() && !entry.name.endsWith('.a') && !entry.name.endsWith('.pc'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

/** Names and sizes of all files; null when there is no such folder. */
async function fingerprint(root: string): Promise<string | null> {
  if (!existsSync(root)) return null;
  const files = await payload(root);
  const sizes = await Promise.all(
    files.map(async (file) => `${file} ${(await stat(join(root, file))).size}`),
  );
  return sizes.join('\n');
}
