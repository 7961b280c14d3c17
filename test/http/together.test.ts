import test from 'ava';
import { together } from '../../server/http/together.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('those who ask alike in one turn get one answer, which is looked for after the last of them', async (t) => {
  const database = {};
  let truth = 'before';
  let asked = 0;
  const put = async () => {
    asked += 1;
    return truth;
  };
  const first = together(database, 'a', put);
  const second = together(database, 'a', put);
  t.is(asked, 0);
  truth = 'now';
  t.deepEqual(await Promise.all([first, second]), ['now', 'now']);
  t.is(asked, 1);
});

test('who asks when the question is under way is not told its answer', async (t) => {
  const database = {};
  let release = (_: string) => {};
  const slow = new Promise<string>((resolve) => {
    release = resolve;
  });
  const first = together(database, 'a', () => slow);
  await turn();
  await turn();
  const later = together(database, 'a', async () => 'later');
  t.is(await later, 'later');
  release('first');
  t.is(await first, 'first');
});

test('other questions, and those to somebody else, are put by themselves', async (t) => {
  const database = {};
  const answers = await Promise.all([
    together(database, 'a', async () => 1),
    together(database, 'b', async () => 2),
    together({}, 'a', async () => 3),
  ]);
  t.deepEqual(answers, [1, 2, 3]);
});

test('a question that fails does so for all who asked it, and for nobody after them', async (t) => {
  const database = {};
  const fail = async () => {
    throw new Error('away');
  };
  const both = await Promise.allSettled([together(database, 'a', fail), together(database, 'a', fail)]);
  t.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  t.is(await together(database, 'a', async () => 'there again'), 'there again');
});
