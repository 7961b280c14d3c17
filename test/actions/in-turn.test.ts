import test from 'ava';
import { inTurn } from '../../server/actions/in-turn.ts';

const minute = 60_000;

/** A promise with what ends it. */
function gate(): { opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

test('in one place they come one after the other, also behind one that fails; elsewhere they do not wait', async (t) => {
  const said: string[] = [];
  const first = gate();
  const failing = inTurn('here', minute, async () => {
    await first.opened;
    said.push('first');
    throw new Error('planted');
  });
  const others = ['second', 'third'].map((name) => inTurn('here', minute, async () => said.push(name)));
  await inTurn('there', minute, async () => said.push('elsewhere'));
  t.deepEqual(said, ['elsewhere']);
  first.open();
  await t.throwsAsync(failing, { message: 'planted' });
  await Promise.all(others);
  t.deepEqual(said, ['elsewhere', 'first', 'second', 'third']);
});

test('who has waited long enough goes on', async (t) => {
  const never = gate();
  const stuck = inTurn('stuck', minute, () => never.opened);
  t.is(await inTurn('stuck', 1, async () => 'went on'), 'went on');
  never.open();
  await stuck;
});
