import pino, { type DestinationStream, type Logger } from 'pino';
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
  const stream = inBundles(pino.destination({ dest: 2, sync: true }));
  return pino({ level, redact: { paths, censor: '[redacted]' } }, stream);
}

/** Writes lines together that come in one turn of the process: each write costs as much as making many lines. */
function inBundles(destination: DestinationStream): DestinationStream {
  let lines = '';
  function write(): void {
    const bundle = lines;
    lines = '';
    if (bundle !== '') destination.write(bundle);
  }
  process.on('exit', write);
  return {
    write(line) {
      if (lines === '') setImmediate(write);
      lines += line;
    },
  };
}
