import test, { type ExecutionContext } from 'ava';
import type Docker from 'dockerode';
import { dockerEngine } from './docker-engine.ts';

export * from './docker-engine.ts';

const engine = await dockerEngine();

/** A test on the real engine; skipped where none answers. */
export function dockerTest(
  title: string,
  implementation: (t: ExecutionContext, engine: Docker) => Promise<void>,
): void {
  if (engine === null) test.skip(title, (t) => t.pass());
  else test(title, (t) => implementation(t, engine));
}
