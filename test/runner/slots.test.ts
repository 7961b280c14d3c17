import test from 'ava';
import { NumberPool, SlotPool } from '../../runner/slots.ts';

const never = new AbortController().signal;

test('the lowest free number is taken', (t) => {
  const pool = new NumberPool();
  t.deepEqual([pool.take(), pool.take(), pool.take()], [0, 1, 2]);
  pool.giveBack(1);
  t.is(pool.take(), 1);
  t.is(pool.take(), 3);
});

test('who waits longest comes first', async (t) => {
  const pool = new SlotPool(1);
  const first = await pool.acquire(never);
  const order: string[] = [];
  const wait = async (name: string) => {
    const slot = await pool.acquire(never);
    order.push(name);
    slot?.release();
  };
  const others = [wait('second'), wait('third')];
  t.is(pool.waiting, 2);
  first?.release();
  await Promise.all(others);
  t.deepEqual(order, ['second', 'third']);
});

test('a slot given back twice counts once', async (t) => {
  const pool = new SlotPool(2);
  const slot = await pool.acquire(never);
  slot?.release();
  slot?.release();
  t.is(pool.free, 2);
});

test('a larger size serves those who wait, a smaller one waits for those who run', async (t) => {
  const pool = new SlotPool(0);
  const waiting = pool.acquire(never);
  pool.resize(1);
  const slot = await waiting;
  t.is(slot?.number, 0);
  pool.resize(0);
  slot?.release();
  t.is(pool.free, 0);
});

test('a stop ends the waiting', async (t) => {
  const pool = new SlotPool(0);
  const controller = new AbortController();
  const waiting = pool.acquire(controller.signal);
  controller.abort();
  t.is(await waiting, null);
  t.is(pool.waiting, 0);
});
