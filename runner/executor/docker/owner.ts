import type Docker from 'dockerode';
import { extract } from 'tar-stream';
import { type Engine, engineCall, statusOf } from './engine.ts';
import type { Owner } from './sources.ts';

const root: Owner = { uid: 0, gid: 0 };

/**
 * Ids of the user that a container runs as. Files put in belong to it: git refuses to work in a directory of
 * another user. `user` has the form of a Dockerfile's USER, names are looked up in the image's own files.
 */
export async function containerOwner(
  engine: Engine,
  container: Docker.Container,
  user: string | undefined,
): Promise<Owner> {
  const [name = '', group] = (user ?? '').split(':');
  if (name === '' || name === 'root' || name === '0') return root;
  const account = await findLine(engine, container, { file: '/etc/passwd', key: name });
  const uid = toId(name) ?? toId(account?.[2]) ?? 0;
  const ownGroup = toId(account?.[3]) ?? 0;
  if (group === undefined) return { uid, gid: ownGroup };
  const entry = await findLine(engine, container, { file: '/etc/group', key: group });
  return { uid, gid: toId(group) ?? toId(entry?.[2]) ?? ownGroup };
}

/** Fields of the line whose name or id is `key`. */
async function findLine(
  engine: Engine,
  container: Docker.Container,
  { file, key }: { file: string; key: string },
): Promise<string[] | undefined> {
  const lines = (await readFile(engine, container, file)).split('\n').map((line) => line.split(':'));
  return lines.find((fields) => fields[0] === key || fields[2] === key);
}

async function readFile(engine: Engine, container: Docker.Container, path: string): Promise<string> {
  return await engineCall(engine, `read ${path} of the image`, async () => {
    try {
      const archive = extract();
      const response = await container.getArchive({ path });
      response.pipe(archive);
      let text = '';
      for await (const entry of archive) for await (const chunk of entry) text += String(chunk);
      return text;
    } catch (error) {
      // Images without this file exist; their users are numbers.
      if (statusOf(error) === 404) return '';
      throw error;
    }
  });
}

function toId(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
