import type { CatFile } from './cat-file.ts';
import { bigFileThreshold } from './environment.ts';

/** Others who read the same repository get their turn in between. */
const atOnce = 16;

/** Which of these blobs are so big that git takes them for binary without a look. Throws when the signal fires. */
export async function bigFilesAmong(
  objects: CatFile,
  dir: string,
  { ids, signal }: { ids: Iterable<string>; signal: AbortSignal | undefined },
): Promise<Set<string>> {
  const all = [...ids];
  const big = new Set<string>();
  for (let index = 0; index < all.length; index += atOnce) {
    signal?.throwIfAborted();
    const infos = await Promise.all(all.slice(index, index + atOnce).map((id) => objects.readInfo(dir, id)));
    for (const info of infos) if (info && info.size > bigFileThreshold) big.add(info.sha);
  }
  return big;
}
