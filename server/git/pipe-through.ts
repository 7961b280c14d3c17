import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gitEnvironment } from './environment.ts';

/** A program that is not on this machine. */
export class ProgramMissingError extends Error {
  readonly program: string;

  constructor(program: string, cause: unknown) {
    super(`${program} is not installed`, { cause });
    this.name = 'ProgramMissingError';
    this.program = program;
  }
}

type Filter = ChildProcessByStdio<Writable, Readable, null>;

/**
 * What a program makes of a stream, at the pace at which it is taken. The result fails when the source or the program
 * does; destroyed, it ends both.
 *
 * @throws ProgramMissingError when there is no such program; the source is destroyed then.
 */
export async function pipeThrough(
  source: Readable,
  program: string,
  args: readonly string[],
): Promise<Readable> {
  const filter = spawn(program, args, {
    cwd: '/',
    env: { PATH: gitEnvironment().PATH },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  try {
    await once(filter, 'spawn');
  } catch (cause) {
    source.destroy();
    throw new ProgramMissingError(program, cause);
  }
  const output = Readable.from(outputOf(filter, { source, program }), { objectMode: false });
  output.once('close', () => {
    source.destroy();
    filter.kill('SIGKILL');
  });
  return output;
}

async function* outputOf(
  filter: Filter,
  { source, program }: { source: Readable; program: string },
): AsyncGenerator<Buffer> {
  const ended = once(filter, 'close');
  // What makes the source fail ends the filter's input as if all were well, so both have to be looked at.
  const fed = pipeline(source, filter.stdin).then(
    () => null,
    (error: Error) => error,
  );
  yield* filter.stdout;
  const fault = await fed;
  if (fault) throw fault;
  const [code] = await ended;
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}
