import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

const DockerConfig = z.object({ auths: z.record(z.string(), z.object({ auth: z.string().optional() })) });

/** What the engine sends to a registry. */
export interface RegistryAuth {
  username: string;
  password: string;
  serveraddress: string;
}

/** Registry part of an image name; `docker.io` when it has none. */
export function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/');
  const isRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  return isRegistry ? first : 'docker.io';
}

/**
 * Login that `docker login` of this user stored for the registry of an image. Only plain entries of
 * `config.json` are read: a credential helper is a program of its own.
 */
export async function registryAuth(
  image: string,
  configFile = join(homedir(), '.docker', 'config.json'),
): Promise<RegistryAuth | undefined> {
  const registry = registryOf(image);
  for (const [address, entry] of Object.entries(await readAuths(configFile))) {
    if (hostOf(address) !== registry || !entry.auth) continue;
    const [username = '', ...password] = Buffer.from(entry.auth, 'base64').toString().split(':');
    return { username, password: password.join(':'), serveraddress: address };
  }
  return undefined;
}

async function readAuths(configFile: string): Promise<z.infer<typeof DockerConfig>['auths']> {
  try {
    return DockerConfig.parse(JSON.parse(await readFile(configFile, 'utf8'))).auths;
  } catch {
    // No file, or one of another form: images are then asked for without a login.
    return {};
  }
}

function hostOf(address: string): string {
  const host = address.replace(/^https?:\/\//, '').replace(/\/.*$/, '');
  return host === 'index.docker.io' ? 'docker.io' : host;
}
