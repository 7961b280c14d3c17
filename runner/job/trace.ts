import type { BuildApi } from './build-api.ts';
import { Masker } from './mask.ts';
import { TraceSpool } from './trace-spool.ts';
import { warningLine } from './trace-text.ts';
import { type TraceTiming, TraceUpload, traceTiming } from './trace-upload.ts';

export interface TraceOptions {
  api: Pick<BuildApi, 'appendTrace' | 'updateState'>;
  /** File that holds the trace until the server has it. */
  spoolFile: string;
  secrets: Iterable<string>;
  /** Bytes of output of the job's own commands; the runner's lines do not count. */
  outputLimit: number;
  onStop(why: 'canceled' | 'gone'): void;
  timing?: TraceTiming;
}

/** The log of one build: masks, limits, spools and sends it. Writes are stored in the order of the calls. */
export class Trace {
  readonly #options: TraceOptions;
  readonly #spool: TraceSpool;
  readonly #masker: Masker;
  readonly #upload: TraceUpload;
  #queue: Promise<void> = Promise.resolve();
  #output = 0;
  /** Whether the next byte stands at the start of a line. */
  #isFresh = true;

  private constructor(options: TraceOptions, spool: TraceSpool) {
    this.#options = options;
    this.#spool = spool;
    this.#masker = new Masker(options.secrets);
    this.#upload = new TraceUpload({
      spool,
      api: options.api,
      timing: options.timing ?? traceTiming,
      onStop: options.onStop,
    });
  }

  static async open(options: TraceOptions): Promise<Trace> {
    return new Trace(options, await TraceSpool.create(options.spoolFile));
  }

  /** Output of the job's commands. What exceeds the limit is dropped, after one notice. */
  output(chunk: Buffer): Promise<void> {
    const left = this.#options.outputLimit - this.#output;
    this.#output += chunk.length;
    if (left < 0) return Promise.resolve();
    if (chunk.length <= left) return this.#append(chunk, 'on disk');
    const { outputLimit } = this.#options;
    const notice = `\n${warningLine(`Output exceeded ${outputLimit} bytes; the rest is dropped.`)}`;
    return this.#cut(chunk.subarray(0, left), Buffer.from(notice));
  }

  /** The runner's own words, on a line of their own; never dropped. */
  write(text: string): Promise<void> {
    return this.#append(Buffer.from(this.#isFresh ? text : `\n${text}`), 'anyway');
  }

  /** Writes what the masker held back; call after the last write. */
  async flush(): Promise<void> {
    await this.#enqueue(() => this.#store(this.#masker.flush(), 'anyway'));
  }

  /**
   * Brings the rest to the server.
   *
   * @param isPatient see `TraceUpload.finish`.
   * @returns whether the server has everything.
   */
  async finish(isPatient: boolean): Promise<boolean> {
    await this.flush();
    return this.#upload.finish(isPatient);
  }

  /** Gives up the spooled file, which stays; call after `finish`. */
  async close(): Promise<void> {
    await this.#queue;
    await this.#spool.close();
  }

  #append(bytes: Buffer, how: 'anyway' | 'on disk'): Promise<void> {
    if (bytes.length > 0) this.#isFresh = endsLine(bytes);
    return this.#enqueue(() => this.#store(this.#masker.push(bytes), how));
  }

  /** Ends the output. What was held back goes too: the limit may cut a secret in two. */
  #cut(last: Buffer, notice: Buffer): Promise<void> {
    this.#isFresh = endsLine(notice);
    return this.#enqueue(() => {
      const shown = [this.#masker.push(last), this.#masker.cut(), this.#masker.push(notice)];
      return this.#store(Buffer.concat(shown), 'on disk');
    });
  }

  #enqueue(action: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(action);
    // The caller sees the error through `done`; later writes must not fail for it.
    this.#queue = done.catch(() => {});
    return done;
  }

  async #store(bytes: Buffer, how: 'anyway' | 'on disk'): Promise<void> {
    if (bytes.length === 0) return;
    if (how === 'anyway') await this.#spool.appendAnyway(bytes);
    else await this.#spool.append(bytes);
    this.#upload.grown();
  }
}

/** A marker erases its own line, so that what follows stands at the start of it. */
function endsLine(bytes: Buffer): boolean {
  return bytes.at(-1) === 0x0a || bytes.subarray(-4).toString() === '\x1b[0K';
}
