import { performance } from 'node:perf_hooks';
import { storable } from '../../shared/storable-text.ts';
import { OutgoingRefused, sendOutgoing } from '../outgoing.ts';
import type { Work } from '../services.ts';

export interface DeliveryTiming {
  /** Milliseconds for one attempt. */
  timeoutMs: number;
}

export const deliveryTiming: DeliveryTiming = { timeoutMs: 10_000 };

/** Characters of an answer that are kept. A little more is read, so that no secret is kept by half at the end. */
const shown = 8192;
const read = shown + 4096;

/** A waiting message with its hook. */
export interface DeliveryRow {
  id: number;
  hook_id: number;
  event: string;
  /** JSON of what it is about, while the message is not written. */
  subject: string | null;
  body: string | null;
  attempts: number;
  /** Seconds since it was put up. */
  age: number;
  is_system: boolean;
  url: string;
  credentials_sealed: Buffer | null;
  token_sealed: Buffer | null;
  enable_ssl_verification: boolean;
  allow_private: boolean;
}

/** What came of one attempt. */
export interface Outcome {
  status: number | null;
  body: string | null;
  error: string | null;
  durationMs: number;
  isDelivered: boolean;
  isWorthRetry: boolean;
  /** The other side is not there, or busy: more messages would fare no better. */
  isAway: boolean;
}

/** Sends a message once. Never throws: what goes wrong is the outcome. */
export async function attemptDelivery(
  work: Work,
  row: DeliveryRow & { body: string },
  { timeoutMs }: DeliveryTiming,
): Promise<Outcome> {
  const begun = performance.now();
  const secrets = openSecrets(work, row);
  try {
    const answer = await sendOutgoing({
      url: row.url,
      method: 'POST',
      headers: headersOf(row, secrets),
      body: row.body,
      timeoutMs,
      verifyTls: row.enable_ssl_verification,
      allowPrivate: row.allow_private,
      maxBytes: read,
    });
    const body = withoutSecrets(answer.body, secrets).slice(0, shown);
    return { ...judge(answer.status), status: answer.status, body, durationMs: since(begun) };
  } catch (error) {
    const isWorthRetry = !(error instanceof OutgoingRefused);
    const text = withoutSecrets(error instanceof Error ? error.message : String(error), secrets).slice(
      0,
      255,
    );
    return {
      status: null,
      body: null,
      error: text,
      durationMs: since(begun),
      isDelivered: false,
      isWorthRetry,
      isAway: true,
    };
  }
}

function judge(status: number): Pick<Outcome, 'error' | 'isDelivered' | 'isWorthRetry' | 'isAway'> {
  const isRedirect = status >= 300 && status < 400;
  return {
    error: isRedirect ? 'redirects are not followed' : null,
    isDelivered: status < 300,
    isWorthRetry: status === 429 || status >= 500,
    isAway: status === 429 || status === 503,
  };
}

function since(begun: number): number {
  return Math.round(performance.now() - begun);
}

interface HookSecrets {
  token: string | null;
  /** `user:password` of the address. */
  credentials: string | null;
}

function openSecrets({ secrets }: Work, row: DeliveryRow): HookSecrets {
  return {
    token: row.token_sealed && secrets.open(row.token_sealed),
    credentials: row.credentials_sealed && secrets.open(row.credentials_sealed),
  };
}

function headersOf({ id, event }: DeliveryRow, { token, credentials }: HookSecrets): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Hearth',
    'X-Gitlab-Event': event,
    'X-Hearth-Delivery': String(id),
    ...(token === null ? {} : { 'X-Gitlab-Token': token }),
    ...(credentials === null ? {} : { Authorization: `Basic ${base64(credentials)}` }),
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Receivers like to answer with what they were sent. */
function withoutSecrets(text: string, { token, credentials }: HookSecrets): string {
  const password = credentials?.slice(credentials.indexOf(':') + 1);
  const basic = credentials && base64(credentials);
  let safe = storable(text);
  for (const secret of [token, basic, credentials, password]) {
    if (secret) safe = safe.replaceAll(secret, '[MASKED]');
  }
  return safe;
}
