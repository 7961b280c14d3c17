import pino, { type Logger } from 'pino';
import type { Config } from './config.ts';

/** Fields whose values never reach the log, wherever they stand. */
const secretFields = [
  'token',
  'password',
  'private_token',
  'access_token',
  'bearer_token',
  'refresh_token',
  'client_secret',
  'authorization',
  'value',
  'cookie',
];

/** The root logger: one JSON line per message on standard error. A terminal gets only what somebody should read. */
export function openLog(given: Config['logLevel']): Logger {
  const level = given ?? (process.stderr.isTTY ? 'warn' : 'info');
  const paths = secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);
  return pino({ level, redact: { paths, censor: '[redacted]' } }, pino.destination({ dest: 2, sync: true }));
}
