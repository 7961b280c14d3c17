import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import { type Engine, engineCall, messageOf, statusOf } from './engine.ts';
import { scriptDir } from './scope.ts';

/** A container that is being started and will wait for its script. */
export interface Launch {
  container: Docker.Container;
  /** Output of the container; what is written here reaches the command below, not the script. */
  stream: Duplex;
  /** Null when the container runs; what the engine says when the image has nothing that could be started. */
  fault: Promise<string | null>;
}

/** In its own directory of every container that runs a script. */
export const scriptName = 'script';

const goWord = 'hearth-go';

/**
 * Waits for the word, then hands over to the best shell there is. Both outputs share one pipe: from two, the
 * engine would take the lines in any order. Standard input is closed, so commands cannot swallow anything.
 */
const waitAndRun = `exec 2>&1
until [ "$word" = ${goWord} ]; do read -r word || exit 1; done
exec </dev/null
for shell in bash sh; do
  for directory in /usr/local/bin /usr/bin /bin; do
    [ -x "$directory/$shell" ] && exec "$directory/$shell" ${scriptDir}/${scriptName}
  done
done
exec sh ${scriptDir}/${scriptName}`;

/** Command of every container that runs a script. */
export const scriptCommand = ['sh', '-c', waitAndRun];

/**
 * Starts a container without waiting for it: this takes longer than all other calls, and the sources can be
 * fetched meanwhile. It is attached to before, so that not even the first byte of its output is missed.
 */
export async function launch(engine: Engine, container: Docker.Container): Promise<Launch> {
  const options = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true };
  const attached: unknown = await engineCall(engine, 'attach to a container', () =>
    container.attach(options),
  );
  // The connection itself, which the engine has handed over.
  const stream = attached as Duplex;
  // A broken connection is noticed when the output is read.
  stream.on('error', () => undefined);
  const fault = engineCall(engine, 'start the container of the job', () => start(container));
  // Looked at when the script is run.
  fault.catch(() => undefined);
  return { container, stream, fault };
}

/** Lets the command above run the script, which must be there. */
export function sendGo({ stream }: Launch): void {
  // An engine may have fed the text of the request to the container; it ends before the first newline.
  stream.write(`\n${goWord}\n`);
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
