import type { IncomingMessage } from 'node:http';
import { posix } from 'node:path';
import { z } from 'zod';
import type { ArchiveSource } from './archive-out.ts';
import { engineError, statusOf } from './engine.ts';

/** What the engine tells about a path; a link's target comes fully resolved, as a path of the container. */
const PathStat = z.object({ mode: z.number(), linkTarget: z.string() });

const symlinkBit = 2 ** 27;

/**
 * Path inside the container of a root that the caller named relative to the project directory. Null when it
 * does not exist, or leads out of the project directory, by `..` or through a link; the latter is told to `warn`.
 */
export async function resolveRoot(source: ArchiveSource, root: string): Promise<string | null> {
  const { projectDir, warn } = source;
  const wanted = posix.normalize(posix.join(projectDir, root)).replace(/\/$/, '');
  let path = projectDir;
  if (!isInside(projectDir, wanted) || posix.isAbsolute(root)) {
    warn(`${root} is left out: it lies outside of the project directory`);
    return null;
  }
  const segments = posix.relative(projectDir, wanted).split('/').filter(Boolean);
  for (const [index, segment] of segments.entries()) {
    path = `${path}/${segment}`;
    const stat = await statPath(source, path);
    if (!stat) return null;
    const isLast = index === segments.length - 1;
    if (isLast || !hasBit(stat.mode, symlinkBit)) continue;
    path = stat.linkTarget;
    if (isInside(projectDir, path)) continue;
    warn(`${root} is left out: a link leads out of the project directory`);
    return null;
  }
  return segments.length > 0 || (await statPath(source, path)) ? path : null;
}

async function statPath({ engine, container }: ArchiveSource, path: string): Promise<PathStat | null> {
  try {
    const response: IncomingMessage = await container.infoArchive({ path });
    response.resume();
    const header = String(response.headers['x-docker-container-path-stat']);
    return PathStat.parse(JSON.parse(Buffer.from(header, 'base64').toString()));
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw engineError(engine, `look at ${path}`, error);
  }
}

type PathStat = z.infer<typeof PathStat>;

function isInside(directory: string, path: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

/** Modes are wider than the 32 bits of the bit operators. */
function hasBit(mode: number, bit: number): boolean {
  return Math.floor(mode / bit) % 2 === 1;
}
