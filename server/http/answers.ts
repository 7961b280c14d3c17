import type { Readable } from 'node:stream';
import { z } from 'zod';

/** What a handler may give back instead of a plain JSON value. */
export class Answer {
  readonly status: number | null;
  readonly headers: Record<string, string>;
  readonly body: unknown;

  constructor(parts: { status?: number; headers?: Record<string, string>; body?: unknown }) {
    this.status = parts.status ?? null;
    this.headers = parts.headers ?? {};
    this.body = parts.body;
  }
}

/** A JSON value with a status or headers of its own. */
export function reply(parts: { status?: number; headers?: Record<string, string>; body: unknown }): Answer {
  return new Answer(parts);
}

/** Nothing to change. */
export function notModified(): Answer {
  return new Answer({ status: 304 });
}

/** Bytes that pass through without being held in memory. */
export class StreamAnswer extends Answer {
  readonly stream: Readable;

  constructor(stream: Readable, headers: Record<string, string>, status = 200) {
    super({ headers, status });
    this.stream = stream;
  }
}

/** A file to be saved under `filename`. */
export function download(stream: Readable, filename: string, size: number): StreamAnswer {
  return new StreamAnswer(stream, {
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': `attachment; filename="${filename.replace(/[^\w.+-]/g, '_')}"`,
    'Content-Transfer-Encoding': 'binary',
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': String(size),
  });
}

/** One page of a list and the number of all rows. */
export class PageAnswer<T> {
  readonly items: T[];
  readonly total: number;
  #json: string | null = null;

  constructor(items: T[], total: number) {
    this.items = items;
    this.total = total;
  }

  /** The items as they are sent; a page that is answered again has it ready. */
  get json(): string {
    this.#json ??= JSON.stringify(this.items);
    return this.#json;
  }

  map<U>(present: (item: T) => U): PageAnswer<U> {
    return new PageAnswer(this.items.map(present), this.total);
  }
}

/** `returns` of an endpoint that sends bytes; `type` is their media type. */
export function bytes(type: string) {
  return z.string().meta({ contentType: type });
}
