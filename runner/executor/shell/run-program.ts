import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { RunResult, ScriptRun } from '../executor.ts';
import { endProcesses, groupMembers } from './processes.ts';

export interface ProgramRun extends ScriptRun {
  /** Path of the shell. */
  shell: string;
  directory: string;
  /** For the file that holds the program. */
  temporary: string;
  environment: Record<string, string>;
  /** Processes of the job wherever they are. */
  findStrays(): Promise<number[]>;
}

/** Milliseconds that output may still come after the shell has ended, from what it left in the background. */
const outputGrace = 500;
/** The same once all writers that could be found are dead. */
const settleLimit = 5000;
/** Milliseconds that processes left in the background get to end by themselves. */
const leftoverGrace = 2000;

/**
 * Runs the program in a process group of its own. No process of it is left when this comes back.
 *
 * @throws the signal's reason when it fires.
 */
export async function runProgram(run: ProgramRun): Promise<RunResult> {
  run.signal.throwIfAborted();
  const file = join(run.temporary, `${run.kind}.sh`);
  await writeFile(file, run.script, { mode: 0o600 });
  // One pipe for both, so that the order of what the job writes is kept.
  const child = spawn('/bin/sh', ['-c', 'exec "$0" "$1" 2>&1', run.shell, file], {
    cwd: run.directory,
    env: run.environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exited = waitForExit(child);
  const ended = exited.catch(() => null);
  const output = forward(child.stdout, run.output);
  const find = async () => [...(await groupMembers(child.pid ?? 0)), ...(await run.findStrays())];
  let ending: Promise<void> | null = null;
  const end = () => {
    ending ??= endProcesses(find);
  };
  run.signal.addEventListener('abort', end);
  // Nobody reads the output any more: the job would wait for ever.
  output.catch(end);
  try {
    const result = await exited;
    await Promise.race([output, pause(outputGrace)]);
    await (ending ?? endProcesses(find, leftoverGrace));
    await settle(child.stdout, output);
    run.signal.throwIfAborted();
    return result;
  } finally {
    run.signal.removeEventListener('abort', end);
    await ended;
  }
}

async function waitForExit(child: ChildProcess): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      resolve({ exitCode: code ?? 128 + (signal ? constants.signals[signal] : 0) });
    });
  });
}

async function forward(stream: Readable, output: ScriptRun['output']): Promise<void> {
  for await (const chunk of stream) await output(chunk as Buffer);
}

/** All writers are dead: what is in the pipe is read, but nobody can keep it open against us. */
async function settle(stream: Readable, output: Promise<void>): Promise<void> {
  const isDone = await Promise.race([output.then(() => true), pause(settleLimit).then(() => false)]);
  if (isDone) return;
  stream.destroy();
  // Destroying ends the reading with an error that says nothing new.
  await output.catch(() => {});
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref();
  });
}
