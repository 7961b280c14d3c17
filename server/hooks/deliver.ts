import type { Work } from '../services.ts';
import { inTransaction, sql, sqlOne } from '../sql.ts';
import {
  attemptDelivery,
  type DeliveryRow,
  type DeliveryTiming,
  deliveryTiming,
  type Outcome,
} from './attempt.ts';
import { writeMessage } from './write-message.ts';

/** Seconds before each repetition; after the last one the message is given up. */
const retryDelays = [10, 60, 300, 1800, 7200];
/** Seconds after which a message is given up in any case: behind others it may have had few attempts. */
const longestWait = 3 * 3600;
/** Ended deliveries that are kept per hook. */
const kept = 50;
/** Messages that one task sends; the next task goes on, after those of other hooks. */
const perTask = 50;

/**
 * Sends what waits for a hook, one message after the other, oldest first. What fails to arrive, or is answered with
 * 429 or 5xx, is sent again later: a receiver may get a message twice, and knows it by its delivery id. While a
 * receiver is away all of its messages wait, so that they keep their order; one that it fails on waits alone.
 */
export async function deliverHook(
  work: Work,
  { hookId }: { hookId: number },
  timing: DeliveryTiming = deliveryTiming,
): Promise<void> {
  await tellOfDropped(work, hookId);
  for (let sent = 0; sent < perTask; sent += 1) {
    const row = await sqlOne<DeliveryRow>(work.em, next, [hookId]);
    if (!row) break;
    await sendOne(work, row, { timing, isLast: false });
  }
  await inTransaction(work, (inner) => comeBack(inner, hookId));
}

/** Sends one message to a hook at once, and never again. What comes of it is among its deliveries. */
export async function sendTest(
  work: Work,
  test: { hookId: number; event: string; body: unknown },
): Promise<void> {
  const { hookId, event, body } = test;
  const row = await inTransaction(work, ({ em }) =>
    sqlOne<DeliveryRow>(em, putTest, [hookId, event, JSON.stringify(body)]),
  );
  if (row) await sendOne(work, row, { timing: deliveryTiming, isLast: true });
}

const parts = `d.id::float8 as id, d.hook_id, d.event, d.subject, d.body, d.attempts,
  extract(epoch from now() - d.created_at)::float8 as age, h.url, h.credentials_sealed,
  h.token_sealed, h.enable_ssl_verification, h.project_id is null as is_system,
  s.local_requests_allowed as allow_private`;

const next = `
  select ${parts}
  from hooks h join hook_deliveries d on d.hook_id = h.id left join projects p on p.id = h.project_id
    join settings s on s.id = 1
  where h.id = $1 and d.state = 'waiting' and d.due_at <= now() and p.pending_delete is not true
    and (h.paused_until is null or h.paused_until <= now())
  order by d.id limit 1`;

/** Until it is sent it is due in the far future, so that no task takes it. */
const putTest = `
  with d as (
    insert into hook_deliveries (hook_id, event, body, due_at) values ($1, $2, $3, now() + interval '1 day') returning *
  ) select ${parts} from d join hooks h on h.id = d.hook_id join settings s on s.id = 1`;

/** Warns once of what was left out since the last warning. What is left out from now on is noted anew. */
async function tellOfDropped(work: Work, hookId: number): Promise<void> {
  const row = await sqlOne<{ since: Date }>(work.em, endDropped, [hookId]);
  if (row)
    work.log.warn({ hook: hookId, since: row.since }, 'too many messages wait for a hook: left some out');
}

const endDropped = `
  update hook_deliveries set state = 'failed' where hook_id = $1 and state = 'dropped' returning created_at as since`;

interface Sending {
  timing: DeliveryTiming;
  /** Whatever comes of it, it is not sent again. */
  isLast: boolean;
}

async function sendOne(work: Work, row: DeliveryRow, { timing, isLast }: Sending): Promise<void> {
  const { body, fault } = row.body === null ? await writeMessage(work, row) : { body: row.body, fault: null };
  const outcome =
    body === null ? { ...unwritten, error: fault } : await attemptDelivery(work, { ...row, body }, timing);
  await inTransaction(work, (inner) => record(inner, { row, body, outcome, isLast }));
}

const unwritten: Omit<Outcome, 'error'> = {
  status: null,
  body: null,
  durationMs: 0,
  isDelivered: false,
  isWorthRetry: false,
  isAway: false,
};

interface Attempt {
  row: DeliveryRow;
  body: string | null;
  outcome: Outcome;
  isLast: boolean;
}

async function record(work: Work, { row, body, outcome, isLast }: Attempt): Promise<void> {
  const isOver = isLast || !outcome.isWorthRetry || row.age > longestWait;
  const delay = isOver ? undefined : retryDelays[row.attempts];
  const state = delay === undefined ? (outcome.isDelivered ? 'delivered' : 'failed') : 'waiting';
  const { status, error, durationMs } = outcome;
  const seen = [state, body ?? '', status, outcome.body, error, durationMs, delay ?? 0];
  await sql(work.em, write, [row.id, row.attempts, ...seen]);
  if (outcome.isAway && delay !== undefined) await sql(work.em, pause, [row.hook_id, delay]);
  if (delay === undefined) await sql(work.em, forget, [row.hook_id]);
  if (outcome.isDelivered) return;
  const about = { hook: row.hook_id, delivery: row.id, status, error, retrySeconds: delay ?? null };
  work.log.info(about, 'a hook was not reached');
}

const write = `
  update hook_deliveries set attempts = attempts + 1, state = $3, body = $4, subject = null, response_status = $5,
    response_body = $6, error = $7, duration_ms = $8, due_at = now() + make_interval(secs => $9), sent_at = now()
  where id = $1 and attempts = $2 and state = 'waiting'`;

const pause = `update hooks set paused_until = now() + make_interval(secs => $2) where id = $1`;

const forget = `
  delete from hook_deliveries where hook_id = $1 and state <> 'waiting' and id < (
    select id from hook_deliveries where hook_id = $1 and state <> 'waiting' order by id desc
    offset ${kept - 1} limit 1)`;

/** Another key than none: a message that is put up in this moment has a task of its own, which must not wait. */
async function comeBack(work: Work, hookId: number): Promise<void> {
  const row = await sqlOne<{ seconds: number | null }>(work.em, whenNext, [hookId]);
  if (row?.seconds == null) return;
  const when = { delaySeconds: row.seconds, key: `deliver_hook:${hookId}`, queueName: `hook:${hookId}` };
  await work.queue.add(work.em, 'deliver_hook', { hookId }, when);
}

const whenNext = `
  select greatest(0, extract(epoch from greatest(min(d.due_at), h.paused_until) - now()))::float8 as seconds
  from hooks h join hook_deliveries d on d.hook_id = h.id left join projects p on p.id = h.project_id
  where h.id = $1 and d.state = 'waiting' and p.pending_delete is not true group by h.id`;
