import test from 'ava';
import { type AggregateStatus, aggregateStatus, type StatusRow } from '../../server/ci/status.ts';

/** A trailing `?` marks a build that is allowed to fail. */
function rows(text: string): StatusRow[] {
  return text
    .split(' ')
    .filter(Boolean)
    .map((word) => ({
      status: word.replace('?', '') as AggregateStatus,
      allowFailure: word.endsWith('?'),
    }));
}

const table: [rows: string, expected: AggregateStatus | null][] = [
  ['', null],
  ['success success', 'success'],
  ['success failed? canceled?', 'success'],
  ['pending pending', 'pending'],
  ['pending? pending', 'pending'],
  ['success pending', 'running'],
  ['canceled canceled', 'canceled'],
  ['canceled success failed?', 'canceled'],
  ['canceled failed', 'failed'],
  ['failed success', 'failed'],
  ['failed running', 'running'],
  ['canceled pending', 'running'],
  ['running', 'running'],
  ['running?', 'running'],
  ['skipped skipped', 'skipped'],
  ['success skipped', 'success'],
  ['pending skipped', 'pending'],
  ['canceled skipped', 'canceled'],
  ['failed skipped', 'failed'],
];

for (const [text, expected] of table) {
  test(`${text || 'no rows'}: ${expected}`, (t) => {
    t.is(aggregateStatus(rows(text)), expected);
  });
}
