import test from 'ava';
import { parseCiConfig } from '../../server/ci/parse.ts';
import { fuzzSamples } from './fuzz-samples.ts';
import { mutate, randomOf } from './mutations.ts';

const count = 100_000;
/** Milliseconds that no file takes on any machine, unless reading it does not end. */
const hang = 20_000;
const seed = Number(process.env.HEARTH_FUZZ_SEED ?? 20_261_128);

test(`${count} broken files are a config or problems with a place, and none takes for ever`, (t) => {
  t.timeout(10 * 60_000);
  let refused = 0;
  for (let index = 0; index < count; index += 1) {
    const text = mutate(fuzzSamples, randomOf(seed, index));
    const start = performance.now();
    const fault = faultOf(text);
    if (fault === 'refused') refused += 1;
    else if (fault !== null)
      t.fail(`HEARTH_FUZZ_SEED=${seed}, file ${index}: ${fault}\n${text.slice(0, 2000)}`);
    if (performance.now() - start > hang) t.fail(`HEARTH_FUZZ_SEED=${seed}, file ${index}: too slow`);
  }
  t.log(`${refused} of ${count} refused`);
  // Else the changes would prove nothing of one of the two ends.
  t.true(refused > count / 10 && refused < count * 0.95);
});

/** @returns `refused` for a file that has problems as it should, null for a good one, else what is wrong. */
function faultOf(text: string): string | null {
  try {
    const result = parseCiConfig(text);
    if ('config' in result) return result.config.jobs.length > 0 ? null : 'a config without jobs';
    const lines = text.split(/\r\n|\r|\n/).length;
    const lost = result.errors.find(({ line, column }) => !(line >= 1 && line <= lines && column >= 1));
    if (lost) return `${lost.kind} is at ${lost.line}:${lost.column} of ${lines} lines`;
    return result.errors.length > 0 ? 'refused' : 'neither jobs nor problems';
  } catch (error) {
    return `threw ${(error as Error).stack}`;
  }
}
