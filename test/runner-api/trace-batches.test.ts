import test from 'ava';
import pg from 'pg';
import { withApp } from '../support/app.ts';
import { runningBuild } from '../support/running-build.ts';

const holder = withApp({ poolSize: 8 });

test('parts of many builds that come at once all find their place; those that are held keep no other waiting', async (t) => {
  const { app } = holder;
  const settings = await Promise.all(Array.from({ length: 30 }, () => runningBuild(app)));
  const [erased, ...others] = settings;
  const [held, free] = [others.slice(0, 4), others.slice(4)];
  if (!erased) throw new Error('there are builds');
  await app.rows('update builds set erased_at = now() where id = $1', [erased.build.id]);
  const holding = new pg.Client({ connectionString: app.databaseUrl });
  await holding.connect();
  t.teardown(() => holding.end());
  await holding.query('begin');
  await holding.query('select 1 from traces where build_id = any($1) for update', [
    held.map(({ build }) => build.id),
  ]);

  const text = (index: number, round: number) => `${index}.${round}${'é'.repeat(index * 700)}\n`;
  let isHeldAnswered = false;
  const late = held.map(async (setting) => {
    const { status } = await setting.patch(0, 'late');
    isHeldAnswered = true;
    return status;
  });
  const refused = erased.patch(0, 'gone');
  const expected = free.map(() => '');
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all(
      free.map((setting, index) => {
        const start = Buffer.byteLength(expected[index] ?? '');
        // Some begin where nobody stands, in the middle of those that begin where they should.
        const isAstray = (index + round) % 7 === 0;
        if (!isAstray) expected[index] += text(index, round);
        return setting.patch(isAstray ? start + 1 : start, text(index, round));
      }),
    );
    for (const [index, answer] of answers.entries()) {
      t.is(answer.status, (index + round) % 7 === 0 ? 416 : 202);
      t.is(answer.headers.range, `0-${Buffer.byteLength(expected[index] ?? '')}`);
    }
  }
  t.false(isHeldAnswered);
  t.is((await refused).status, 403);
  await holding.query('commit');
  t.deepEqual(await Promise.all(late), [202, 202, 202, 202]);
  for (const setting of held) t.is((await setting.read()).text, 'late');
  for (const [index, setting] of free.entries()) t.is((await setting.read()).text, expected[index] ?? '');
});

test('two parts of one build that come at once: one finds its place, the other is told where that is now', async (t) => {
  const { app } = holder;
  const [busy, other] = [await runningBuild(app), await runningBuild(app)];
  const answers = await Promise.all([
    other.patch(0, 'x'),
    other.patch(1, 'y'),
    busy.patch(0, 'first'),
    busy.patch(0, 'second'),
  ]);
  const [a, b] = answers.slice(2);
  t.deepEqual([a?.status, b?.status].sort(), [202, 416]);
  const kept = a?.status === 202 ? 'first' : 'second';
  t.is((await busy.read()).text, kept);
  const loser = a?.status === 202 ? b : a;
  t.is(loser?.headers.range, `0-${kept.length}`);
});
