import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import Docker from 'dockerode';
import { type Pack, pack } from 'tar-stream';

const requireDocker = process.env.HEARTH_REQUIRE_DOCKER === '1';
const busyboxPaths = ['/bin/busybox', '/usr/bin/busybox'];

/** Part of the tags: raise it when the content of the images changes. */
const recipe = '1';

let found: Promise<Docker | null> | undefined;

/** The engine of this machine, or null when none answers. Throws instead when HEARTH_REQUIRE_DOCKER is 1. */
export function dockerEngine(): Promise<Docker | null> {
  found ??= findEngine();
  return found;
}

async function findEngine(): Promise<Docker | null> {
  const engine = new Docker();
  try {
    await engine.ping();
    return engine;
  } catch (error) {
    if (requireDocker) {
      throw new Error('HEARTH_REQUIRE_DOCKER is 1, but no Docker engine answers', { cause: error });
    }
    return null;
  }
}

/** Tag of an image with busybox and links to its applets, user `worker` (uid 1000) and nothing else. */
export function testImage(): Promise<string> {
  return ensureImage({ name: 'hearth-test/busybox', changes: [] });
}

/** Like `testImage`, but a container made of it serves HTTP ("hello from the service") on port 8080. */
export function serviceImage(): Promise<string> {
  const command = ['httpd', '-f', '-p', '8080', '-h', '/www'];
  const changes = ['EXPOSE 8080/tcp', `CMD ${JSON.stringify(command)}`];
  return ensureImage({ name: 'hearth-test/service', changes });
}

/** An image whose exposed port is never opened; it writes "service is stuck" and stays. */
export function stuckServiceImage(): Promise<string> {
  const command = ['sh', '-c', 'echo service is stuck; exec sleep 600'];
  return ensureImage({
    name: 'hearth-test/stuck',
    changes: ['EXPOSE 9/tcp', `CMD ${JSON.stringify(command)}`],
  });
}

/** Like `testImage`, changed by lines of a Dockerfile. */
export function derivedImage(name: string, changes: string[]): Promise<string> {
  return ensureImage({ name, changes });
}

/** Like `testImage`, with the given user as the one that containers run as. */
export function userImage(user: string): Promise<string> {
  return ensureImage({ name: `hearth-test/user-${user.replace(/\W/g, '-')}`, changes: [`USER ${user}`] });
}

/** An image without any shell. */
export function emptyImage(): Promise<string> {
  return ensureImage({ name: 'hearth-test/empty', changes: [], shell: false });
}

interface ImageRecipe {
  name: string;
  /** Lines of a Dockerfile that change the settings of the image. */
  changes: string[];
  shell?: boolean;
}

const made = new Map<string, Promise<string>>();

function ensureImage(image: ImageRecipe): Promise<string> {
  const result = made.get(image.name) ?? makeImage(image);
  made.set(image.name, result);
  return result;
}

async function makeImage({ name, changes, shell = true }: ImageRecipe): Promise<string> {
  const engine = await dockerEngine();
  if (engine === null) throw new Error('no Docker engine answers');
  const busybox = await readFile(await busyboxPath());
  const hash = createHash('sha256').update(recipe).update(JSON.stringify(changes)).update(busybox);
  const tag = hash.digest('hex').slice(0, 12);
  const image = `${name}:${tag}`;
  if (await isPresent(engine, image)) return image;
  // The library's streams are Node's in all but their types.
  const tar = (await imageTar(shell ? busybox : null)) as unknown as Readable;
  const options = { repo: name, tag, changes };
  const progress: NodeJS.ReadableStream = await engine.importImage(tar, options);
  for await (const line of progress) {
    if (String(line).includes('"error"')) throw new Error(`import of ${image}: ${line}`);
  }
  return image;
}

async function isPresent(engine: Docker, image: string): Promise<boolean> {
  try {
    await engine.getImage(image).inspect();
    return true;
  } catch {
    // Any other fault shows when the image is made.
    return false;
  }
}

async function imageTar(busybox: Buffer | null): Promise<Pack> {
  const tar = pack();
  tar.entry({ name: 'tmp', type: 'directory', mode: 0o1777 });
  tar.entry({ name: 'etc/passwd' }, 'root:x:0:0::/root:/bin/sh\nworker:x:1000:1000::/tmp:/bin/sh\n');
  tar.entry({ name: 'etc/group' }, 'root:x:0:\nworker:x:1000:\n');
  tar.entry({ name: 'www/index.html' }, 'hello from the service\n');
  if (busybox) {
    tar.entry({ name: 'bin/busybox', mode: 0o755 }, busybox);
    for (const applet of await applets()) {
      tar.entry({ name: `bin/${applet}`, type: 'symlink', linkname: 'busybox' });
    }
  }
  tar.finalize();
  return tar;
}

async function applets(): Promise<string[]> {
  const { stdout } = await promisify(execFile)(await busyboxPath(), ['--list']);
  // The list names busybox itself; a link of that name would take the place of the program.
  return stdout.split('\n').filter((name) => name !== '' && name !== 'busybox');
}

async function busyboxPath(): Promise<string> {
  for (const path of busyboxPaths) {
    try {
      await access(path);
      return path;
    } catch {
      // Tried in the next place.
    }
  }
  throw new Error(`busybox not found (${busyboxPaths.join(', ')}): apt-get install busybox-static`);
}
