import test from 'ava';
import { endSessions } from '../../server/oauth/end-sessions.ts';
import { inTransaction } from '../../server/sql.ts';
import { withApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { password } from '../support/make.ts';
import { codeFor, exchange, makeApplication, refresh, requestTokens, statusWith } from '../support/oauth.ts';

const holder = withApp({ poolSize: 6 });
const waiting =
  "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";

test.serial(
  'of many exchanges of one code at once, at most one gives tokens, and none stays good',
  async (t) => {
    const { app } = holder;
    const application = await makeApplication(app);
    const { username } = await app.make.user();
    const code = await codeFor(app, application, { username });
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => exchange(app, application, code)));
    const given = answers.filter(({ status }) => status === 200);
    t.is(given.length, 1);
    for (const { body } of given) t.is(await statusWith(app, body.access_token), 401);
  },
);

test.serial('of many refreshes at once, one gives tokens', async (t) => {
  const { app } = holder;
  const { username } = await app.make.user();
  const { body } = await requestTokens(app, null, { grant_type: 'password', username, password });
  const answers = await Promise.all([1, 2, 3, 4, 5].map(() => refresh(app, null, body.refresh_token)));
  t.is(answers.filter(({ status }) => status === 200).length, 1);
});

test.serial('a refresh while all is being ended leaves no token behind', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const form = { grant_type: 'password', username: user.username, password };
  const { body } = await requestTokens(app, null, form);
  let refreshing: ReturnType<typeof refresh> | null = null;
  await inTransaction(app.work, async (work) => {
    await endSessions(work, user.id);
    refreshing = refresh(app, null, body.refresh_token);
    await eventually(async () => (await app.rows(waiting)).length > 0);
  });
  const answer = await (refreshing as ReturnType<typeof refresh> | null);
  t.is(answer?.status, 401);
  const alive = await app.rows('select 1 from oauth_tokens where user_id = $1 and revoked_at is null', [
    user.id,
  ]);
  t.deepEqual(alive, []);
});
