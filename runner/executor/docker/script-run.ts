import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunResult, ScriptRun } from '../executor.ts';
import { type Engine, engineCall, engineError } from './engine.ts';
import { FrameReader } from './frames.ts';
import { doneWord, endWord, type Launch, sendScript } from './launch.ts';
import { wasOutOfMemory } from './out-of-memory.ts';
import { stopContainer } from './stop.ts';

export interface ScriptPlace {
  engine: Engine;
  launch: Launch;
  /** Between TERM and KILL of an abort. */
  graceMs: number;
}

const noShell = 'This image cannot run the job: it has no shell (sh), or its entrypoint cannot be started';

/** Runs a script in a container that waits for it. Rejects with the signal's reason after an abort. */
export async function runScript(place: ScriptPlace, run: ScriptRun): Promise<RunResult> {
  const { engine, launch } = place;
  try {
    const fault = await unlessAborted(launch.fault, run.signal);
    if (fault !== null) {
      await run.output(Buffer.from(`${noShell}: ${fault}\n`));
      return { exitCode: 1 };
    }
    sendScript(launch, run.script);
    return await engineCall(engine, 'run the script', () => supervise(place, run));
  } finally {
    launch.close();
  }
}

async function supervise({ engine, launch, graceMs }: ScriptPlace, run: ScriptRun): Promise<RunResult> {
  const { container, stream } = launch;
  const ended = result(engine, launch, forward(stream, run.output));
  ended.catch(() => undefined);
  try {
    return await unlessAborted(ended, run.signal);
  } catch (error) {
    const cause = engineError(engine, 'run the script', error);
    await stopContainer(container, graceMs);
    // What the script wrote while it was being ended still belongs to the trace, unless nobody takes it.
    await Promise.race([ended.catch(() => undefined), delay(1000, undefined, { ref: false })]);
    throw cause;
  }
}

/** @returns whether the script has told that its exit code is 0, and that no trap can change that. */
async function forward(stream: Duplex, write: ScriptRun['output']): Promise<boolean> {
  const frames = new FrameReader();
  let told: string | null = null;
  for await (const chunk of stream) {
    for (const { isError, payload } of frames.read(chunk)) {
      if (!isError) await write(payload);
      else if (told !== null) told += String(payload);
      else {
        const end = payload.indexOf(endWord);
        if (end !== -1) told = payload.toString('utf8', end + endWord.length);
        // An entrypoint may write there before the script begins.
        await write(end === -1 ? payload : payload.subarray(0, end));
      }
    }
  }
  return told === doneWord;
}

async function result(
  engine: Engine,
  { container, exited }: Launch,
  output: Promise<boolean>,
): Promise<RunResult> {
  // One that was over before the engine took the question never ends again; then the second question is answered.
  const late = output.then(async (isDone) => (isDone ? 0 : (await container.wait()).StatusCode));
  const [exitCode] = await Promise.all([Promise.race([exited, late]), output]);
  if (exitCode === 0) return { exitCode };
  return (await wasOutOfMemory(engine, container, exitCode)) ? { exitCode, outOfMemory: true } : { exitCode };
}

/** The same, but rejects with the reason of the signal when that fires before. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let dispose = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    dispose = () => signal.removeEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    dispose();
  }
}
