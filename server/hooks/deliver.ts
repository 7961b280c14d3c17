import type { Work } from '../services.ts';
import { inTransaction, sql, sqlOne } from '../sql.ts';
import {
  attemptDelivery,
  type DeliveryRow,
  type DeliveryTiming,
  deliveryTiming,
  type Outcome,
} from './attempt.ts';

/** Seconds before each repetition; after the last one the message is given up. */
const retryDelays = [10, 60, 300, 1800, 7200];
/** Ended deliveries that are kept per hook. */
const kept = 50;

/**
 * Sends a message to its hook. What fails to arrive, or is answered with 429 or 5xx, is sent again later: a receiver
 * may get a message twice, and knows it by its delivery id.
 *
 * @param attempt how many attempts the message has had; another number means that this task is outdated.
 */
export async function deliverHook(
  work: Work,
  { deliveryId, attempt }: { deliveryId: number; attempt: number },
  timing: DeliveryTiming = deliveryTiming,
): Promise<void> {
  const row = await sqlOne<DeliveryRow>(work.em, find, [deliveryId, attempt]);
  if (!row) return;
  const outcome = await attemptDelivery(work, row, timing);
  await inTransaction(work, (inner) => record(inner, { row, attempt, outcome }));
}

/** Sends one message to a hook at once, and never again. What comes of it is among its deliveries. */
export async function sendTest(
  work: Work,
  test: { hookId: number; event: string; body: unknown },
): Promise<void> {
  const made = await inTransaction(work, ({ em }) =>
    sqlOne<{ id: number }>(
      em,
      'insert into hook_deliveries (hook_id, event, body) values ($1, $2, $3) returning id::float8 as id',
      [test.hookId, test.event, JSON.stringify(test.body)],
    ),
  );
  const row = made && (await sqlOne<DeliveryRow>(work.em, find, [made.id, 0]));
  if (!row) return;
  const outcome = await attemptDelivery(work, row, deliveryTiming);
  const last = { ...outcome, isWorthRetry: false };
  await inTransaction(work, (inner) => record(inner, { row, attempt: 0, outcome: last }));
}

const find = `
  select d.id::float8 as id, d.hook_id, d.event, d.body, h.url, h.credentials_sealed, h.token_sealed, h.enable_ssl_verification,
    s.local_requests_allowed as allow_private
  from hook_deliveries d join hooks h on h.id = d.hook_id left join projects p on p.id = h.project_id
    join settings s on s.id = 1
  where d.id = $1 and d.state = 'waiting' and d.attempts = $2 and p.pending_delete is not true`;

interface Attempt {
  row: DeliveryRow;
  attempt: number;
  outcome: Outcome;
}

async function record(work: Work, { row, attempt, outcome }: Attempt): Promise<void> {
  const delay = outcome.isWorthRetry && !outcome.isDelivered ? retryDelays[attempt] : undefined;
  const state = delay === undefined ? (outcome.isDelivered ? 'delivered' : 'failed') : 'waiting';
  const { status, body, error, durationMs } = outcome;
  const written = await sqlOne(work.em, write, [row.id, attempt, state, status, body, error, durationMs]);
  if (!written) return;
  if (delay === undefined) await sql(work.em, forget, [row.hook_id]);
  else await again(work, { row, attempt: attempt + 1, delay });
  if (outcome.isDelivered) return;
  work.log.info(
    { hook: row.hook_id, delivery: row.id, status, error, retry: delay ?? null },
    'a hook was not reached',
  );
}

async function again(work: Work, next: { row: DeliveryRow; attempt: number; delay: number }): Promise<void> {
  const { row, attempt, delay } = next;
  const when = { delaySeconds: delay, key: `deliver_hook:${row.id}`, queueName: `hook:${row.hook_id}` };
  await work.queue.add(work.em, 'deliver_hook', { deliveryId: row.id, attempt }, when);
}

const write = `
  update hook_deliveries set attempts = attempts + 1, state = $3, response_status = $4, response_body = $5,
    error = $6, duration_ms = $7, sent_at = now()
  where id = $1 and attempts = $2 and state = 'waiting' returning id`;

const forget = `
  delete from hook_deliveries where hook_id = $1 and state <> 'waiting' and id < (
    select id from hook_deliveries where hook_id = $1 and state <> 'waiting' order by id desc
    offset ${kept - 1} limit 1)`;
