import type Docker from 'dockerode';
import picomatch from 'picomatch';
import type { DockerOptions } from '../docker-options.ts';
import { ExecutorError } from '../executor-error.ts';
import { type Engine, engineCall, engineError, isEngineGone, messageOf, statusOf } from './engine.ts';
import { registryAuth } from './registry-auth.ts';

export interface ImageRequest {
  engine: Engine;
  image: string;
  policy: DockerOptions['pull_policy'];
  notice(text: string): Promise<void>;
  warn(text: string): Promise<void>;
  signal: AbortSignal;
}

/**
 * Makes the image present on the engine as the pull policy asks, and tells what it is.
 * Throws an ExecutorError that says what to do when it cannot be had.
 */
export async function ensureImage(request: ImageRequest): Promise<Docker.ImageInspectInfo> {
  const { engine, image, policy } = request;
  const local = policy === 'always' && !isFixed(image) ? null : await inspectImage(engine, image);
  if (local) return local;
  if (policy === 'never') {
    const advice = `put it there with "docker pull ${image}", or set pull_policy to "if-not-present"`;
    throw new ExecutorError(
      'user',
      `Image ${image} is not on the engine at ${engine.host} and pull_policy is "never": ${advice}`,
    );
  }
  return await pulledImage(request);
}

/** Throws a user error unless a pattern matches, there are no patterns, or it is the runner's own image. */
export function assertAllowed(
  image: string,
  rule: { option: string; patterns?: string[]; own?: string[] },
): void {
  const { option, patterns, own = [] } = rule;
  if (!patterns || own.includes(image) || picomatch.isMatch(image, patterns, { dot: true })) return;
  const list = patterns.length > 0 ? patterns.join(', ') : 'nothing';
  throw new ExecutorError(
    'user',
    `Image ${image} is not allowed here: ${option} of this runner lists ${list}`,
  );
}

async function pulledImage(request: ImageRequest): Promise<Docker.ImageInspectInfo> {
  const { engine, image } = request;
  await request.notice(`Pulling image ${image} …`);
  try {
    await pull(request);
  } catch (error) {
    request.signal.throwIfAborted();
    if (isEngineGone(error)) throw engineError(engine, 'pull', error);
    const local = await inspectImage(engine, image);
    if (!local) throw pullError(image, error);
    await request.warn(`Cannot pull ${image} (${messageOf(error)}); using the copy on the engine.`);
    return local;
  }
  return await engineCall(engine, `inspect image ${image}`, () => engine.docker.getImage(image).inspect());
}

async function pull({ engine, image, signal }: ImageRequest): Promise<void> {
  const authconfig = await registryAuth(image);
  const stream = await engine.docker.pull(image, { authconfig, abortSignal: signal });
  await new Promise<void>((resolve, reject) => {
    engine.docker.modem.followProgress(stream, (error) => (error ? reject(error) : resolve()));
  });
}

async function inspectImage(engine: Engine, image: string): Promise<Docker.ImageInspectInfo | null> {
  try {
    return await engine.docker.getImage(image).inspect();
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw engineError(engine, `inspect image ${image}`, error);
  }
}

/** A digest or an id names one content for ever, so a copy that is there needs no pull. */
function isFixed(image: string): boolean {
  return image.includes('@sha256:') || image.startsWith('sha256:');
}

function pullError(image: string, error: unknown): ExecutorError {
  const reason = messageOf(error);
  const isRefused = /not found|denied|unauthorized|manifest unknown|invalid reference/i.test(reason);
  const advice = isRefused
    ? 'Check the name; for a private registry run "docker login" as the user of this runner.'
    : 'Check that the engine reaches the registry, or put the image on the engine beforehand.';
  return new ExecutorError(
    isRefused ? 'user' : 'system',
    `Cannot pull image ${image}: ${reason}. ${advice}`,
    {
      cause: error,
    },
  );
}
