import { constants, copyFile, link, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sync } from './sync.ts';

const looseFolder = /^[0-9a-f]{2}$/;
const looseFile = /^[0-9a-f]{38}$/;
/** With its index last: git takes a pack for there once it has one. */
const packParts = /^pack-[0-9a-f]{40}\.(?:pack|rev|bitmap|idx)$/;
const linksAtOnce = 32;

/**
 * Gives a repository all objects of another one, as further names of the same files: it takes no room and no time
 * for the size of them, and neither repository needs the other afterwards. Git never changes a file of objects, it
 * only makes new ones and removes names of old ones. Refs are not looked at; read them before this.
 */
export async function linkObjects(from: string, to: string): Promise<void> {
  const [source, target] = [join(from, 'objects'), join(to, 'objects')];
  // In this order: what is packed meanwhile is in a pack when its loose file goes.
  await linkLoose(source, target);
  await linkPacks(join(source, 'pack'), join(target, 'pack'));
  await sync(target);
}

async function linkLoose(source: string, target: string): Promise<void> {
  const folders = (await readdir(source)).filter((name) => looseFolder.test(name));
  for (const folder of folders) {
    const files = (await namesIn(join(source, folder))).filter((name) => looseFile.test(name));
    if (files.length === 0) continue;
    await mkdir(join(target, folder), { recursive: true });
    await linkAll(files, join(source, folder), join(target, folder));
    await sync(join(target, folder));
  }
}

/** Until nothing has come or gone meanwhile: a pack goes when a new one has all that was in it. */
async function linkPacks(source: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  for (let seen = ''; ; ) {
    const parts = (await namesIn(source)).filter((name) => packParts.test(name)).sort();
    if (parts.join() === seen) break;
    seen = parts.join();
    const isIndex = (name: string) => name.endsWith('.idx');
    await linkAll(
      parts.filter((name) => !isIndex(name)),
      source,
      target,
    );
    await linkAll(parts.filter(isIndex), source, target);
  }
  await sync(target);
}

async function linkAll(names: string[], source: string, target: string): Promise<void> {
  for (let start = 0; start < names.length; start += linksAtOnce) {
    const some = names.slice(start, start + linksAtOnce);
    await Promise.all(some.map((name) => linkOne(join(source, name), join(target, name))));
  }
}

/** Errors with which a file system says that it can give this file no further name. */
const noLink = new Set(['EXDEV', 'EMLINK', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

async function linkOne(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    // Gone: what was in it is elsewhere by now. There: it has the same name, so it is the same.
    if (code === 'ENOENT' || code === 'EEXIST') return;
    if (!noLink.has(code)) throw error;
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    await sync(to);
  }
}

async function namesIn(folder: string): Promise<string[]> {
  // Git removes folders that have become empty.
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}
