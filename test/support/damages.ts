import { chmod, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '../git/real-git.ts';
import { packNames } from './many-packs.ts';

interface Place {
  dir: string;
  sha: string;
}

const looseFile = ({ dir, sha }: Place) => join(dir, 'objects', sha.slice(0, 2), sha.slice(2));

/** What may happen to a repository, and whether nothing at all can be read of it then. */
export const damages: Record<string, { isTotal: boolean; cause(place: Place): Promise<unknown> }> = {
  'no folder': { isTotal: true, cause: ({ dir }) => rename(dir, `${dir}.lost`) },
  'garbage for HEAD': { isTotal: true, cause: ({ dir }) => writeFile(join(dir, 'HEAD'), 'garbage') },
  'a config that is cut off': { isTotal: true, cause: ({ dir }) => writeFile(join(dir, 'config'), '[core') },
  'no objects': { isTotal: true, cause: ({ dir }) => rm(join(dir, 'objects'), { recursive: true }) },
  'a file for objects': {
    isTotal: true,
    async cause({ dir }) {
      await rm(join(dir, 'objects'), { recursive: true });
      await writeFile(join(dir, 'objects'), '');
    },
  },
  'a torn commit': {
    isTotal: false,
    async cause(place) {
      await chmod(looseFile(place), 0o644);
      await truncate(looseFile(place), 10);
    },
  },
  'a branch that leads nowhere': { isTotal: false, cause: (place) => rm(looseFile(place)) },
  'an empty branch': { isTotal: false, cause: ({ dir }) => truncate(join(dir, 'refs/heads/master')) },
  'a torn list of refs': {
    isTotal: false,
    async cause({ dir }) {
      await git(dir, 'pack-refs', '--all');
      await writeFile(join(dir, 'packed-refs'), 'garbage\n');
    },
  },
  'a torn pack': {
    isTotal: false,
    async cause({ dir }) {
      await git(dir, 'repack', '-adq');
      const [name = ''] = await packNames(dir);
      await chmod(join(dir, 'objects/pack', name), 0o644);
      await truncate(join(dir, 'objects/pack', name), 40);
    },
  },
};
