import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import type { RunResult, ScriptRun } from '../executor.ts';
import { putEntries } from './archive-in.ts';
import { type Engine, engineCall, engineError } from './engine.ts';
import { FrameReader } from './frames.ts';
import { type Launch, scriptName, sendGo } from './launch.ts';
import { scriptDir } from './scope.ts';
import { stopContainer } from './stop.ts';

export interface ScriptPlace {
  engine: Engine;
  launch: Launch;
  /** Takes the script while the other container is being started. */
  files: Docker.Container;
  /** Between TERM and KILL of an abort. */
  graceMs: number;
}

const noShell = 'This image cannot run the job: it has no shell (sh), or its entrypoint cannot be started';

/** Runs a script in a container that waits for it. Rejects with the signal's reason after an abort. */
export async function runScript(place: ScriptPlace, run: ScriptRun): Promise<RunResult> {
  const { engine, launch } = place;
  try {
    const [fault] = await Promise.all([launch.fault, putScript(place, run)]);
    if (fault !== null) {
      await run.output(Buffer.from(`${noShell}: ${fault}\n`));
      return { exitCode: 1 };
    }
    run.signal.throwIfAborted();
    sendGo(launch);
    return await engineCall(engine, 'run the script', () => supervise(place, run));
  } finally {
    launch.stream.destroy();
  }
}

async function putScript(
  { engine, files: container }: ScriptPlace,
  { script, signal }: ScriptRun,
): Promise<void> {
  await putEntries({
    engine,
    container,
    path: scriptDir,
    signal,
    fill: (add) => add({ name: scriptName, type: 'file', mode: 0o555 }, Buffer.from(script)),
  });
}

async function supervise({ engine, launch, graceMs }: ScriptPlace, run: ScriptRun): Promise<RunResult> {
  const { container, stream } = launch;
  const ended = result(container, forward(stream, run.output));
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

async function forward(stream: Duplex, write: ScriptRun['output']): Promise<void> {
  const frames = new FrameReader();
  for await (const chunk of stream) {
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
