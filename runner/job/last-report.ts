import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What is kept beside each other in the directory of a build until the server has it. */
export const traceFile = 'trace.log';
const stateFile = 'state';

export type EndState = 'success' | 'failed';

/** Notes how the build ended: a later process can report it, when this one dies before the server takes it. */
export async function keepEndState(directory: string, state: EndState): Promise<void> {
  const path = join(directory, stateFile);
  await writeFile(`${path}.new`, state);
  await rename(`${path}.new`, path);
}

export interface LastReport {
  /** Null when the build had not ended. */
  state: EndState | null;
  trace: string;
}

/** What a build left that nobody reported. */
export async function readLastReport(directory: string): Promise<LastReport> {
  const read = (name: string) => readFile(join(directory, name), 'utf8').catch(() => '');
  const [state, trace] = [await read(stateFile), await read(traceFile)];
  return { state: state === 'success' || state === 'failed' ? state : null, trace };
}
