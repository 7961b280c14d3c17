import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { statusOf } from './engine.ts';

/**
 * Ends a running container: TERM to every process in it, `graceMs` for them to tidy up, then KILL, once a
 * second until it is gone. A container that does not run is no fault; an engine that does not answer is.
 */
export async function stopContainer(container: Docker.Container, graceMs: number): Promise<void> {
  const gone = container.wait().catch(ignoreMissing);
  // Looked at below; a fault must not count as unhandled before.
  gone.catch(() => undefined);
  await Promise.all([signalFirst(container), signalOthers(container)]);
  if (await isWithin(gone, graceMs)) return;
  do {
    await container.kill({ signal: 'SIGKILL' }).catch(ignoreStopped);
  } while (!(await isWithin(gone, 1000)));
}

/** Reaches the first process, which gets the signal only if it handles it, as a shell with a trap does. */
async function signalFirst(container: Docker.Container): Promise<void> {
  await container.kill({ signal: 'SIGTERM' }).catch(ignoreStopped);
}

/** Reaches the commands that the script runs; without them the shell would wait to the end of each. */
async function signalOthers(container: Docker.Container): Promise<void> {
  try {
    const exec = await container.exec({ Cmd: ['sh', '-c', 'kill -TERM -1'], User: '0:0' });
    const answer = await exec.start({ Detach: true });
    // Unread, it would hold its connection and with it this process.
    answer.resume();
  } catch (error) {
    ignoreStopped(error);
  }
}

async function isWithin(gone: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const late = delay(ms, false, { signal: timer.signal }).catch(() => false);
  const isGone = await Promise.race([gone.then(() => true), late]);
  timer.abort();
  return isGone;
}

function ignoreStopped(error: unknown): void {
  // 404: removed, 409: not running, 500: ended between two steps of the engine. What counts is the wait.
  if (![404, 409, 500].includes(statusOf(error) ?? 0)) throw error;
}

function ignoreMissing(error: unknown): void {
  if (statusOf(error) !== 404) throw error;
}
