import type { Registration } from './config.ts';
import type { Executor } from './executor/executor.ts';
import { createShellExecutor } from './executor/shell/shell-executor.ts';
import type { Log } from './log.ts';

/** First characters of a runner's token, which name it in container names and paths. */
export function shortToken(token: string): string {
  return token.slice(0, 8).replace(/[^A-Za-z0-9_-]/g, '_');
}

/** The place where the builds of a registration run. Docker's client is loaded only when it is wanted. */
export async function createExecutor(
  registration: Pick<Registration, 'executor' | 'docker' | 'token'>,
  { environment, log }: { environment: Record<string, string>; log: Log },
): Promise<Executor> {
  const shell = () => createShellExecutor({ label: shortToken(registration.token), environment });
  if (registration.executor === 'shell') return shell();
  if (registration.executor === 'auto') {
    const { whyDockerIsUnusable } = await import('./executor/docker/usable.ts');
    const reason = await whyDockerIsUnusable(registration.docker);
    if (reason !== null) {
      log.warn(
        { reason },
        'no usable Docker: builds run in a shell, unisolated, as the user of this process',
      );
      return shell();
    }
  }
  const { createDockerExecutor } = await import('./executor/docker/docker-executor.ts');
  return createDockerExecutor(registration.docker, shortToken(registration.token));
}
