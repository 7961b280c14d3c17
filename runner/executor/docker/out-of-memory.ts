import type Docker from 'dockerode';
import type { Engine } from './engine.ts';

const killedCode = 128 + 9;
/** How long the engine may take to hear why a container ended, after it has heard that. Seconds. */
const whyLimit = 2;

/**
 * Whether a container that has ended was killed for want of memory. An engine hears of the end and of the reason in
 * any order: what it hears after the end it never adds to the container, but it does tell it as an event. One that is
 * under load may lose the reason altogether; then the answer is no.
 */
export async function wasOutOfMemory(
  engine: Engine,
  container: Docker.Container,
  exitCode: number,
): Promise<boolean> {
  const { Id: id, State: state, HostConfig: host } = await container.inspect();
  if (state.OOMKilled) return true;
  if (exitCode !== killedCode || !host.Memory) return false;
  // By the clock of the engine.
  const since = Math.floor(Date.parse(state.StartedAt) / 1000);
  const until = Date.parse(state.FinishedAt) / 1000 + whyLimit;
  const events = await engine.docker.getEvents({
    since,
    until,
    filters: { container: [id], event: ['oom'] },
  });
  for await (const _event of events) return true;
  return false;
}
