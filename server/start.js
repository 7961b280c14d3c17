// `npm start`: makes sure that everything is there, then hands over to main.ts.
import { ensureDependencies, missingTools } from './install.js';

// A closed terminal and a reader that went away (`npm start | head`) have to end it as cleanly as main.ts does.
process.on('SIGHUP', terminate);
process.stdout.on('error', terminate);
process.stderr.on('error', terminate);

try {
  const missing = missingTools();
  if (missing.length > 0) fail(missing);
  else await start();
} catch (error) {
  fail([explain(error)]);
}

async function start() {
  await ensureDependencies(process.env);
  const { register } = await import('tsx/esm/api');
  register();
  const { main } = await import('./main.ts');
  await main(process.env);
}

function terminate() {
  process.kill(process.pid, 'SIGTERM');
}

/** @param {string[]} lines */
function fail(lines) {
  for (const line of lines) process.stderr.write(`hearth: ${line}\n`);
  process.exitCode = 1;
}

/**
 * A foreseen fault carries advice and takes one line; anything else is a defect and shows where it happened.
 * @param {unknown} error
 */
function explain(error) {
  if (!(error instanceof Error)) return String(error);
  if ('advice' in error) return `${error.message}; ${error.advice}`;
  return error.stack ?? error.message;
}
