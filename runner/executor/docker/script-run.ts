import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import type { RunResult, ScriptRun } from '../executor.ts';
import { putEntries } from './archive-in.ts';
import { type Engine, engineCall, engineError, messageOf, statusOf } from './engine.ts';
import { FrameReader } from './frames.ts';
import { stopContainer } from './stop.ts';

/** Lies outside of the project directory, where the job might archive it. */
const scriptName = 'hearth-script';

/**
 * Hands over to the best shell there is; standard input is closed, so commands cannot swallow the script. Both
 * outputs share one pipe: from two, the engine would take the lines in any order.
 */
const probe = [
  'exec 2>&1',
  'for shell in bash sh; do',
  'for directory in /usr/local/bin /usr/bin /bin; do',
  `[ -x "$directory/$shell" ] && exec "$directory/$shell" /${scriptName}`,
  'done; done',
  `exec sh /${scriptName}`,
].join('\n');

/** Command of every container that runs a script. */
export const scriptCommand = ['sh', '-c', probe];

const noShell = 'This image cannot run the job: it has no shell (sh), or its entrypoint cannot be started';

export interface ScriptContainer {
  engine: Engine;
  container: Docker.Container;
  graceMs: number;
}

/** Runs a script in a container that was not started yet. Rejects with the signal's reason after an abort. */
export async function runScript(place: ScriptContainer, run: ScriptRun): Promise<RunResult> {
  const { engine, container } = place;
  await putScript(place, run);
  return await engineCall(engine, 'run the script', async () => {
    // Attached before the start, so that not even the first byte is missed.
    const output = await attach(container);
    try {
      run.signal.throwIfAborted();
      const fault = await startContainer(container);
      if (fault === null) return await supervise(place, run, output);
      await run.output(Buffer.from(`${noShell}: ${fault}\n`));
      return { exitCode: 1 };
    } finally {
      output.destroy();
    }
  });
}

async function attach(container: Docker.Container): Promise<IncomingMessage> {
  const stream: unknown = await container.attach({ stream: true, stdout: true, stderr: true });
  // Without hijacking, what comes is the answer to the request.
  return stream as IncomingMessage;
}

async function putScript(
  { engine, container }: ScriptContainer,
  { script, signal }: ScriptRun,
): Promise<void> {
  const fill = (add: Parameters<Parameters<typeof putEntries>[0]['fill']>[0]) =>
    add({ name: scriptName, type: 'file', mode: 0o555 }, Buffer.from(script));
  await putEntries({ engine, container, path: '/', signal, fill });
}

/** Null when it runs; what the engine says when the image has nothing that could be started. */
async function startContainer(container: Docker.Container): Promise<string | null> {
  try {
    await container.start();
    return null;
  } catch (error) {
    const message = messageOf(error);
    if (statusOf(error) === 400 || /executable file not found|no such file or directory/.test(message)) {
      return message;
    }
    throw error;
  }
}

async function supervise(
  { engine, container, graceMs }: ScriptContainer,
  run: ScriptRun,
  output: IncomingMessage,
): Promise<RunResult> {
  const ended = result(container, forward(output, run.output));
  ended.catch(() => undefined);
  const abort = whenAborted(run.signal);
  try {
    return await Promise.race([ended, abort.promise]);
  } catch (error) {
    const cause = engineError(engine, 'run the script', error);
    await stopContainer(container, graceMs);
    // What the script wrote while it was being ended still belongs to the trace, unless nobody takes it.
    await Promise.race([ended.catch(() => undefined), delay(1000, undefined, { ref: false })]);
    throw cause;
  } finally {
    abort.dispose();
  }
}

async function forward(output: IncomingMessage, write: ScriptRun['output']): Promise<void> {
  const frames = new FrameReader();
  for await (const chunk of output) {
    for (const part of frames.read(chunk)) await write(part);
  }
}

async function result(container: Docker.Container, output: Promise<void>): Promise<RunResult> {
  await output;
  const { StatusCode: exitCode } = await container.wait();
  if (exitCode === 0) return { exitCode };
  const { State: state } = await container.inspect();
  return state.OOMKilled ? { exitCode, outOfMemory: true } : { exitCode };
}

function whenAborted(signal: AbortSignal): { promise: Promise<never>; dispose(): void } {
  let dispose = () => {};
  const promise = new Promise<never>((_resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    dispose = () => signal.removeEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  return { promise, dispose: () => dispose() };
}
