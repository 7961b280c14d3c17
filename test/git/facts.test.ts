import test from 'ava';
import { Facts } from '../../server/git/facts.ts';

const sized = { maxBytes: 1000, weigh: (text: string) => text.length };

test('who asks while an answer is sought waits for it, who asks later has it', async (t) => {
  const facts = new Facts<string>(sized);
  let searches = 0;
  const search = async () => {
    searches += 1;
    return 'found';
  };
  t.deepEqual(await Promise.all([facts.find('a', search), facts.find('a', search)]), ['found', 'found']);
  t.is(await facts.find('a', search), 'found');
  t.is(facts.peek('a'), 'found');
  t.is(searches, 1);
});

test('a search that failed is made again', async (t) => {
  const facts = new Facts<string>(sized);
  await t.throwsAsync(
    facts.find('a', () => Promise.reject(new Error('away'))),
    { message: 'away' },
  );
  t.is(await facts.find('a', async () => 'found'), 'found');
});

test('no more is held than told', async (t) => {
  const facts = new Facts<string>(sized);
  for (const key of ['a', 'b', 'c']) facts.note(key, 'x'.repeat(300));
  t.deepEqual(
    ['a', 'b', 'c'].map((key) => facts.peek(key) !== undefined),
    [false, true, true],
  );
  facts.note('d', 'x'.repeat(2000));
  t.is(facts.peek('d'), undefined);
});
