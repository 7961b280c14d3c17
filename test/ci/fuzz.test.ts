import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { parseCiConfig } from '../../server/ci/parse.ts';
import { fuzzSamples } from './fuzz-samples.ts';

const program = fileURLToPath(new URL('fuzz-program.ts', import.meta.url));
const seed = Number(process.env.HEARTH_FUZZ_SEED ?? 20_161_128);
const cases = Number(process.env.HEARTH_FUZZ_CASES ?? 100_000);
/** For a hundred files, which take a fraction of a second on a machine with nothing else to do. */
const hangMs = 60_000;

test('the samples are valid as they stand', (t) => {
  for (const sample of fuzzSamples) t.true('config' in parseCiConfig(sample), sample);
});

test(`${cases} mutated files: each a config or placed faults, no crash, no hang, in 256 MiB`, async (t) => {
  t.timeout(30 * 60_000);
  const args = ['--max-old-space-size=256', '--import=tsx', program, String(seed), String(cases)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  const faults: string[] = [];
  let last = 'at 0';
  const watchdog = setTimeout(() => child.kill('SIGKILL'), hangMs);
  for await (const line of createInterface({ input: child.stdout })) {
    watchdog.refresh();
    if (line.startsWith('fault')) faults.push(line);
    else last = line;
  }
  clearTimeout(watchdog);
  const [code, signal] = await ended;
  const place = `HEARTH_FUZZ_SEED=${seed}, ${last}, exit ${code ?? signal}`;
  t.deepEqual(faults, [], place);
  t.regex(last, /^done \d+$/, `it hung or crashed: ${place}`);
  t.true(Number(last.slice('done '.length)) > cases / 10, 'too few files were valid to say much');
});
