import test from 'ava';
import pg from 'pg';
import { translateDatabaseError } from '../../server/database-errors.ts';
import { announceNoteable } from '../../server/hooks/announce-noteable.ts';
import { deliverHook } from '../../server/hooks/deliver.ts';
import { rootToken, withApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { withReceiver } from '../support/hook-receiver.ts';

const holder = withApp();
const receiver = withReceiver();

test.serial.before(async () => {
  await holder.app.rows('update settings set local_requests_allowed = true');
});

interface Body {
  object_attributes: Record<string, unknown>;
  [key: string]: unknown;
}

/** A hook of a project of its own that hears of issues. */
async function scene(path: string) {
  const { app } = holder;
  const project = await app.make.project();
  const place = `/api/v3/projects/${project.id}/hooks`;
  const json = { url: receiver.url(path), push_events: false, issues_events: true };
  const { id } = (await app.call<{ id: number }>('POST', place, { as: rootToken, json })).body;
  return {
    id,
    /** @param columns of an issue that the hook is told of. */
    say: async (columns: Record<string, unknown>) => {
      const issue = await app.make.issue(project, { columns });
      await announceNoteable(app.work, {
        type: 'Issue',
        id: issue.id,
        action: 'open',
        userId: project.owner.id,
      });
    },
    /** Oldest first. */
    deliveries: () =>
      app.rows<{ state: string; attempts: number; error: string | null; body: string | null }>(
        'select state, attempts, error, body from hook_deliveries where hook_id = $1 order by id',
        [id],
      ),
    heard: () => receiver.at<Body>(path).map(({ body }) => body.object_attributes),
  };
}

test.serial('moments before the first year and after 9999 are told like all others', async (t) => {
  const { say, heard } = await scene('/far');
  await say({ created_at: '0001-01-01 00:00:00Z BC', updated_at: '0044-03-15 12:30:00.25Z BC' });
  await say({ created_at: '10000-01-02 03:04:05Z', updated_at: '0001-01-01 00:00:00Z' });
  await holder.app.runTasks();
  t.deepEqual(
    heard().map(({ created_at, updated_at }) => [created_at, updated_at]),
    [
      ['0000-01-01T00:00:00.000Z', '-000043-03-15T12:30:00.250Z'],
      ['+010000-01-02T03:04:05.000Z', '0001-01-01T00:00:00.000Z'],
    ],
  );
});

test.serial('a message that cannot be written fails alone, and is logged once', async (t) => {
  const { app } = holder;
  const { id, say, heard, deliveries } = await scene('/unwritten');
  await say({ title: 'before' });
  await say({ title: 'no moment', created_at: 'infinity' });
  await say({ title: 'after' });
  await app.runTasks();
  await app.runAllTasks();
  t.deepEqual(
    heard().map(({ title }) => title),
    ['before', 'after'],
  );
  const [before, unwritten, after] = await deliveries();
  t.is(before?.state, 'delivered');
  t.is(after?.state, 'delivered');
  const error = 'the message could not be written';
  t.deepEqual(unwritten, { state: 'failed', attempts: 1, error, body: '' });
  const isAbout = (line: string) => line.includes('"level":50') && line.includes(`"hook":${id},`);
  const faults = app.logLines.filter(isAbout);
  t.is(faults.length, 1);
  t.regex(String(faults[0]), /RangeError.*a message to a hook was not written/);
  app.logLines.splice(app.logLines.findIndex(isAbout), 1);
});

test.serial('while the database is away a message that is being written waits', async (t) => {
  const { app } = holder;
  const { id, say, heard, deliveries } = await scene('/away');
  await say({ title: 'patient' });
  const locker = new pg.Client({ connectionString: app.databaseUrl });
  await locker.connect();
  t.teardown(() => locker.end());
  // Nothing before the writing looks at users.
  await locker.query('begin; lock table users in access exclusive mode');
  const delivering = t.throwsAsync(deliverHook(app.work, { hookId: id }));
  await eventually(async () => {
    const ended = await locker.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return ended.rowCount === 1;
  });
  t.is(translateDatabaseError(await delivering)?.status, 503);
  await locker.query('rollback');
  t.like((await deliveries())[0], { state: 'waiting', attempts: 0, error: null, body: null });
  await app.runTasks();
  t.deepEqual(
    heard().map(({ title }) => title),
    ['patient'],
  );
});
