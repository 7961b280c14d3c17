import type { DockerOptions } from '../docker-options.ts';
import { connectEngine } from './engine.ts';
import { ensureImage } from './image.ts';

/** How long fetching the default image may take before builds are run without Docker. */
const patienceMs = 120_000;

/**
 * Whether an engine answers and has the default image, or can fetch it.
 *
 * @returns null when it does, else why not, as one sentence.
 */
export async function whyDockerIsUnusable(options: DockerOptions): Promise<string | null> {
  const silent = async () => undefined;
  try {
    await ensureImage({
      engine: connectEngine(options.host),
      image: options.image,
      policy: 'if-not-present',
      notice: silent,
      warn: silent,
      signal: AbortSignal.timeout(patienceMs),
    });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
