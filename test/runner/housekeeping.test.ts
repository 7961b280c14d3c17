import test, { type ExecutionContext } from 'ava';
import { Housekeeping } from '../../runner/housekeeping.ts';
import { createLog } from '../../runner/log.ts';
import { eventually } from '../support/eventually.ts';

const hour = 3_600_000;

/** Rounds of two tasks, of which the second fails while `faults` are left. */
function start(t: ExecutionContext, given: { interval: number; faults?: number }) {
  const counts = { first: 0, second: 0 };
  let faults = given.faults ?? 0;
  const housekeeping = new Housekeeping({
    tasks: {
      first: async () => {
        counts.first += 1;
      },
      second: async () => {
        counts.second += 1;
        faults -= 1;
        if (faults >= 0) throw new Error('the engine is away');
      },
    },
    interval: given.interval,
    backoffFirst: 1,
    backoffMax: 2,
    log: createLog('silent'),
  });
  const stop = new AbortController();
  t.teardown(() => stop.abort());
  return { housekeeping, counts, stop, run: () => housekeeping.run(stop.signal) };
}

test('rounds come in the interval until the signal fires', async (t) => {
  const { counts, stop, run } = start(t, { interval: 1 });
  const done = run();
  await eventually(() => counts.first >= 3 && counts.second >= 3);
  stop.abort();
  await done;
  t.pass();
});

test('a round that failed is repeated until it works, and never rejects', async (t) => {
  const { housekeeping, counts, run } = start(t, { interval: hour, faults: 3 });
  await housekeeping.round();
  void run();
  await eventually(() => counts.second === 4);
  t.is(counts.first, 4);
});

test('a round that is asked for comes at once, also when it was asked for before the first pause', async (t) => {
  const { housekeeping, counts, run } = start(t, { interval: hour });
  housekeeping.soon();
  void run();
  await eventually(() => counts.first === 1);
  housekeeping.soon();
  await eventually(() => counts.first === 2);
  t.is(counts.second, 2);
});
