import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import { type Engine, engineCall, messageOf, statusOf } from './engine.ts';

/** A container that is being started and will wait for its script. */
export interface Launch {
  container: Docker.Container;
  /** Output of the container; what is written here is its standard input. */
  stream: Duplex;
  /** Null when the container runs; what the engine says when the image has nothing that could be started. */
  fault: Promise<string | null>;
  /** Exit code of the container; asked for beforehand, so that an engine that dies is noticed whatever comes after it. */
  exited: Promise<number>;
  /** Lets go of the container, which goes on. */
  close(): void;
}

const goWord = 'hearth-go';

/** What a script that has come to its end writes to what was stderr; then the traps that are left, then the next. */
export const endWord = 'hearth-end\n';
export const doneWord = 'hearth-done\n';

/**
 * Waits for the word, then hands over to the best shell there is, which reads on. Both outputs share one pipe: from
 * two, the engine would take the lines in any order. The other pipe tells of the end.
 */
const waitAndRun = `exec 9>&2 2>&1
until [ "$word" = ${goWord} ]; do read -r word || exit 1; done
for shell in bash sh; do
  for directory in /usr/local/bin /usr/bin /bin; do
    [ -x "$directory/$shell" ] && exec "$directory/$shell"
  done
done
exec sh`;

/** Command of every container that runs a script. */
export const scriptCommand = ['sh', '-c', waitAndRun];

/**
 * Starts a container without waiting for it: this takes longer than all other calls, and the sources can be
 * fetched meanwhile. It is attached to before, so that not even the first byte of its output is missed.
 */
export async function launch(engine: Engine, container: Docker.Container): Promise<Launch> {
  const options = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true };
  const waiting = new AbortController();
  const exited = exitCode(engine, container, waiting.signal);
  // Looked at when the script is run, as is the fault below.
  exited.catch(() => undefined);
  const attached: unknown = await engineCall(engine, 'attach to a container', () =>
    container.attach(options),
  );
  // The connection itself, which the engine has handed over.
  const stream = attached as Duplex;
  // A broken connection is noticed when the output is read.
  stream.on('error', () => undefined);
  const fault = engineCall(engine, 'start the container of the job', () => start(container));
  fault.catch(() => undefined);
  const close = () => {
    stream.destroy();
    waiting.abort();
  };
  return { container, stream, fault, exited, close };
}

async function exitCode(
  engine: Engine,
  container: Docker.Container,
  abortSignal: AbortSignal,
): Promise<number> {
  const options = { condition: 'next-exit', abortSignal } as const;
  const { StatusCode } = await engineCall(engine, 'wait for a container', () => container.wait(options));
  return StatusCode;
}

/**
 * An engine takes its time to say that a container has ended, so a success is told before. Nobody closes the input:
 * without the exit the shell would wait for more.
 */
const tellAndExit =
  '{ hearth_code=$?; set +xe; [ "$hearth_code" != 0 ] || ' +
  `{ command printf '${endWord.trim()}\\n'; trap; command printf '${doneWord.trim()}\\n'; } >&9; ` +
  'exit "$hearth_code"; } 2>/dev/null';

/**
 * Lets the command above run a script. It travels through the standard input, which its commands do not get, so
 * that they cannot swallow the rest of it, and it is never on a disk.
 */
export function sendScript({ stream }: Launch, script: string): void {
  const quoted = `'${script.replaceAll("'", `'\\''`)}'`;
  // An engine may have fed the text of the request to the container; it ends before the first newline.
  stream.write(`\n${goWord}\neval ${quoted} </dev/null 9>&-; ${tellAndExit}\n`);
}

async function start(container: Docker.Container): Promise<string | null> {
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
