import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

export interface StubbornAnswer {
  status: number;
  headers: Headers;
  body: string;
  /** How often it was 503 before: what was asked for may have been done already. */
  failures: number;
}

/** Milliseconds that one answer may take, whatever is broken behind the server. */
const patience = 20_000;
const limit = 180_000;

/**
 * Repeats each request while it is answered with 503, as clients have to. It notes whatever is neither that, with
 * the body that belongs to it, nor an answer that the caller expects.
 */
export class StubbornClient {
  /** What went wrong, in words. */
  readonly faults: string[] = [];
  /** Times that an answer was 503. */
  refusals = 0;
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** @param expected statuses that are right. */
  async send(expected: number[], path: string, request: RequestInit): Promise<StubbornAnswer> {
    const deadline = Date.now() + limit;
    for (let failures = 0; ; failures += 1) {
      const answer = await this.#once(path, request);
      if (answer && answer.status !== 503) {
        if (!expected.includes(answer.status)) this.#note(path, request, `${answer.status} ${answer.body}`);
        return { ...answer, failures };
      }
      if (Date.now() > deadline) throw new Error(`${path} is still not served`);
      await wait(100);
    }
  }

  /** Null: there was no answer, which is noted, or the right 503. */
  async #once(path: string, request: RequestInit): Promise<Omit<StubbornAnswer, 'failures'> | null> {
    try {
      const response = await fetch(`${this.#url}${path}`, {
        ...request,
        signal: AbortSignal.timeout(patience + (isWaiting(request) ? patience : 0)),
      });
      const body = await response.text();
      if (response.status === 503) this.#check503(path, request, { response, body });
      return { status: response.status, headers: response.headers, body };
    } catch (error) {
      this.#note(path, request, String((error as Error).cause ?? error));
      return null;
    }
  }

  #check503(path: string, request: RequestInit, { response, body }: { response: Response; body: string }) {
    this.refusals += 1;
    const type = response.headers.get('content-type');
    const isRight =
      type === 'application/json' &&
      response.headers.get('retry-after') !== null &&
      isDeepStrictEqual(Object.keys(JSON.parse(body)), ['message']);
    if (!isRight) this.#note(path, request, `503 as ${type}: ${body}`);
  }

  #note(path: string, { method = 'GET' }: RequestInit, what: string): void {
    this.faults.push(`${method} ${path}: ${what}`);
  }
}

function isWaiting({ headers }: RequestInit): boolean {
  return new Headers(headers).has('prefer');
}
