import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/**
 * The folder of what a push has brought, read from what a traced `git receive-pack` tells of itself. It is there once
 * all of it has come and is sound; git takes it over only after it has found that nothing is missing.
 *
 * @returns null when there is none: the push brings nothing, or git refuses it. Never rejects.
 */
export function quarantineOf(trace: Readable): Promise<string | null> {
  // Read to its end in any case: git waits for whoever reads it.
  const lines = createInterface({ input: trace.on('error', () => undefined) });
  let folder: string | null = null;
  return new Promise((resolve) => {
    lines.on('line', (line) => {
      const event = readEvent(line);
      if (event?.event === 'def_param' && event.param === 'GIT_QUARANTINE_PATH')
        folder ??= event.value ?? null;
      // Only the first process has no other before it in its name: that is git itself, whose first helper unpacks.
      if (event?.event === 'child_exit' && !event.sid?.includes('/'))
        resolve(event.code === 0 ? folder : null);
    });
    lines.once('close', () => resolve(null));
  });
}

interface TraceEvent {
  event?: string;
  sid?: string;
  param?: string;
  value?: string;
  code?: number;
}

function readEvent(line: string): TraceEvent | null {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
