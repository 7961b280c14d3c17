import { pino } from 'pino';

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];
export type Log = pino.Logger;

const secretNames = ['token', 'registrationToken', 'repo_url', 'variables', 'environment', 'authorization'];

/** One JSON line per event on stderr; fields that hold secrets are blotted out wherever they stand. */
export function createLog(level: LogLevel): Log {
  const paths = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  return pino(
    { level, base: null, redact: { paths, censor: '[MASKED]' }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: true }),
  );
}
