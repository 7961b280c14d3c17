import { backoffDelay } from '../../shared/retry.ts';
import type { BuildApi, StateAnswer, TraceAnswer } from './build-api.ts';
import type { TraceSpool } from './trace-spool.ts';

/** All in milliseconds. */
export interface TraceTiming {
  /** From a byte that comes after a silence to the part that carries it: what follows at once goes with it. */
  gather: number;
  /** Least time from one part to the next. */
  flush: number;
  /** The same where each part is the whole trace, because the server takes no others. */
  wholeFlush: number;
  /** Longest silence: an empty part asks for the state of the build and shows that it is alive. */
  poll: number;
  retryFirst: number;
  retryMax: number;
  /** How long after the end of the build the server is asked again and again to take the rest. */
  giveUp: number;
}

export const traceTiming: TraceTiming = {
  gather: 20,
  flush: 700,
  wholeFlush: 3000,
  poll: 2500,
  retryFirst: 1000,
  retryMax: 30_000,
  giveUp: 35 * 60_000,
};

const maxPart = 1024 * 1024;

export interface TraceUploadOptions {
  spool: TraceSpool;
  api: Pick<BuildApi, 'appendTrace' | 'updateState'>;
  timing: TraceTiming;
  /** Called once, when the server says that the build is over or not ours. */
  onStop(why: 'canceled' | 'gone'): void;
}

/** Carries the spooled trace to the server, part after part, while the build runs. */
export class TraceUpload {
  readonly #options: TraceUploadOptions;
  readonly #loop: Promise<void>;
  /** Bytes of the spool that the server has. */
  #sent = 0;
  /** What the server's length is ahead of ours; only after it took the whole trace as text. */
  #shift = 0;
  #failures = 0;
  #mismatches = 0;
  #lastContact = Date.now();
  /** When the server last took something new. */
  #lastPart = 0;
  #pendingSince: number | null = null;
  /** The server takes no parts, only the trace as a whole. */
  #isWhole = false;
  #isEnding = false;
  #isGone = false;
  #hasStopped = false;
  #wake: () => void = () => {};

  constructor(options: TraceUploadOptions) {
    this.#options = options;
    this.#loop = this.#run();
    // `finish` reports it; until then it must not end the process.
    this.#loop.catch(() => {});
  }

  /** Tells that the spool has grown. */
  grown(): void {
    this.#pendingSince ??= Date.now();
    this.#wake();
  }

  /**
   * Sends what is left.
   *
   * @param isPatient whether to go on for `giveUp` while the server is away; else one failure ends it.
   * @returns whether the server has everything.
   */
  async finish(isPatient: boolean): Promise<boolean> {
    this.#isEnding = true;
    this.#wake();
    await this.#loop;
    const deadline = Date.now() + (isPatient ? this.#options.timing.giveUp : 0);
    while (!this.#isGone && this.#pending > 0) {
      await this.#sendPart();
      if (this.#failures === 0) continue;
      if (Date.now() >= deadline) break;
      await this.#pause(this.#retryDelay());
    }
    return this.#pending === 0;
  }

  get #pending(): number {
    return this.#options.spool.size - this.#sent;
  }

  async #run(): Promise<void> {
    let retryAt = 0;
    while (!this.#isEnding && !this.#isGone) {
      const wait = this.#failures > 0 ? retryAt - Date.now() : this.#dueIn();
      if (wait > 0) {
        await this.#pause(wait);
        continue;
      }
      await this.#sendPart();
      retryAt = Date.now() + this.#retryDelay();
    }
  }

  #dueIn(): number {
    const { gather, flush, wholeFlush, poll } = this.#options.timing;
    if (this.#pending >= maxPart && !this.#isWhole) return 0;
    const polled = this.#lastContact + poll;
    if (this.#pendingSince === null) return polled - Date.now();
    const next = this.#lastPart + (this.#isWhole ? wholeFlush : flush);
    return Math.min(polled, Math.max(this.#pendingSince + gather, next)) - Date.now();
  }

  #retryDelay(): number {
    const { retryFirst, retryMax } = this.#options.timing;
    return this.#failures === 0 ? 0 : backoffDelay(this.#failures, { first: retryFirst, max: retryMax });
  }

  async #pause(milliseconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => {};
  }

  async #sendPart(): Promise<void> {
    if (this.#isWhole) return this.#sendWhole();
    const bytes = await this.#options.spool.read(this.#sent, maxPart);
    const answer = await this.#options.api.appendTrace({ offset: this.#sent + this.#shift, bytes });
    if (answer.kind === 'stored') this.#stored(answer, bytes.length);
    else if (answer.kind === 'out_of_order') await this.#realign(answer.length);
    else if (answer.kind === 'gone') this.#stop('gone');
    else if (answer.kind === 'no_parts') await this.#changeToWhole();
    else this.#failures += 1;
  }

  /** Servers without this call know the build all the same; one that does not will say so now. */
  async #changeToWhole(): Promise<void> {
    this.#isWhole = true;
    await this.#replaceAll();
  }

  async #sendWhole(): Promise<void> {
    if (this.#pending > 0) return this.#replaceAll();
    const answer = await this.#options.api.updateState({ state: 'running' });
    if (this.#hasReached(answer)) this.#contact();
  }

  #stored(answer: TraceAnswer & { kind: 'stored' }, length: number): void {
    this.#sent += length;
    if (length > 0) this.#lastPart = Date.now();
    this.#contact();
    this.#mismatches = 0;
    if (answer.status === 'canceled' || answer.status === 'failed') this.#stop('canceled');
  }

  #contact(): void {
    this.#failures = 0;
    this.#lastContact = Date.now();
    this.#pendingSince = this.#pending > 0 ? this.#lastContact : null;
  }

  /** The server's length differs: goes back to it, or replaces all when it is none that our trace ever had. */
  async #realign(length: number | null): Promise<void> {
    this.#mismatches += 1;
    if (this.#mismatches > 1) this.#failures += 1;
    if (length === null || this.#shift !== 0 || length > this.#options.spool.size) return this.#replaceAll();
    this.#sent = length;
  }

  async #replaceAll(): Promise<void> {
    const { spool, api } = this.#options;
    const bytes = await spool.read(0, spool.size);
    const trace = bytes.toString();
    if (!this.#hasReached(await api.updateState({ state: 'running', trace }))) return;
    this.#sent = bytes.length;
    this.#lastPart = Date.now();
    this.#shift = Buffer.byteLength(trace) - bytes.length;
    this.#contact();
  }

  #hasReached(answer: StateAnswer): boolean {
    if (answer.kind === 'gone') this.#stop('gone');
    if (answer.kind === 'unavailable') this.#failures += 1;
    return answer.kind === 'done';
  }

  #stop(why: 'canceled' | 'gone'): void {
    if (why === 'gone') this.#isGone = true;
    if (this.#hasStopped) return;
    this.#hasStopped = true;
    this.#options.onStop(why);
  }
}
