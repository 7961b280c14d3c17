import type { Registration } from './config.ts';
import type { Executor } from './executor/executor.ts';
import { createShellExecutor } from './executor/shell/shell-executor.ts';

/** First characters of a runner's token, which name it in container names and paths. */
export function shortToken(token: string): string {
  return token.slice(0, 8).replace(/[^A-Za-z0-9_-]/g, '_');
}

/** The place where the builds of a registration run. Docker's client is loaded only when it is wanted. */
export async function createExecutor(
  registration: Pick<Registration, 'executor' | 'docker' | 'token'>,
  environment: Record<string, string>,
): Promise<Executor> {
  if (registration.executor === 'shell') {
    return createShellExecutor({ label: shortToken(registration.token), environment });
  }
  const { createDockerExecutor } = await import('./executor/docker/docker-executor.ts');
  return createDockerExecutor(registration.docker, shortToken(registration.token));
}
