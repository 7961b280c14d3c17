// Reads mutated CI files, one after the other, and says on stdout how far it is: `SEED CASES` as arguments.
import { parseCiConfig } from '../../server/ci/parse.ts';
import { fuzzSamples } from './fuzz-samples.ts';
import { faultOf } from './fuzz-verdict.ts';
import { mutate, randomOf } from './mutations.ts';

const [seed, cases] = process.argv.slice(2).map(Number);
if (seed === undefined || cases === undefined) throw new Error('needs a seed and a number of cases');

let valid = 0;
for (let index = 0; index < cases; index += 1) {
  if (index % 100 === 0) process.stdout.write(`at ${index}\n`);
  const text = mutate(fuzzSamples, randomOf(seed, index));
  const result = parseCiConfig(text);
  const fault = faultOf(text, result);
  if (fault) process.stdout.write(`fault ${index} ${fault}\n`);
  if ('config' in result) valid += 1;
}
process.stdout.write(`done ${valid}\n`);
