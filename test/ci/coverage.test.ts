import test from 'ava';
import { findCoverage } from '../../server/ci/coverage.ts';

const cases: [what: string, trace: string, pattern: string, coverage: number | null][] = [
  ['the first number of the match', 'Lines 12 of 40, 30.5%', 'Lines .*', 12],
  ['the last match', '10% covered\n20% covered\n', '\\d+% covered', 20],
  ['the last group', 'a 1 b 2', 'a (\\d) b (\\d)', 2],
  ['the match where the last group took no part', 'total 7', 'total \\d+( of (\\d+))?', 7],
  ['through colours', 'covered: \u001b[1;32m98.45\u001b[0m%', 'covered: \\d+\\.\\d+', 98.45],
  ['no match', 'nothing', '\\d+%', null],
  ['a match without a number', 'none covered', 'none', null],
  ['a pattern that is none', '10%', '((', null],
  ['a pattern that this engine does not take', '10%', '(?=10)\\d+', null],
  ['a pattern that matches nothing everywhere', '10%', '', null],
  ['no number of a percentage', `${'9'.repeat(400)}%`, '\\d+%', null],
];

for (const [what, trace, pattern, coverage] of cases) {
  test(what, (t) => {
    t.is(findCoverage(trace, pattern), coverage);
  });
}
