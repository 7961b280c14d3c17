/** Numbers for things that run at the same time; each gets the lowest that is free. */
export class NumberPool {
  readonly #taken = new Set<number>();

  take(): number {
    let number = 0;
    while (this.#taken.has(number)) number += 1;
    this.#taken.add(number);
    return number;
  }

  giveBack(number: number): void {
    this.#taken.delete(number);
  }

  get isEmpty(): boolean {
    return this.#taken.size === 0;
  }
}

/** A free place for one build, until it is given back. */
export interface Slot {
  number: number;
  release(): void;
}

/** As many places as there may be builds at the same time; whoever waits longest comes first. */
export class SlotPool {
  readonly #numbers = new NumberPool();
  readonly #waiting: (() => void)[] = [];
  #size: number;
  #used = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Those over a smaller size stay until they are given back. */
  resize(size: number): void {
    this.#size = size;
    this.#serve();
  }

  get free(): number {
    return Math.max(0, this.#size - this.#used);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** @returns null when the signal fires first. */
  async acquire(signal: AbortSignal): Promise<Slot | null> {
    if (signal.aborted) return null;
    if (this.#waiting.length === 0 && this.free > 0) return this.#take();
    return new Promise((resolve) => {
      const onAbort = () => {
        const index = this.#waiting.indexOf(serve);
        if (index !== -1) this.#waiting.splice(index, 1);
        resolve(null);
      };
      const serve = () => {
        signal.removeEventListener('abort', onAbort);
        resolve(this.#take());
      };
      this.#waiting.push(serve);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #take(): Slot {
    this.#used += 1;
    const number = this.#numbers.take();
    let isHeld = true;
    return {
      number,
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#used -= 1;
        this.#numbers.giveBack(number);
        this.#serve();
      },
    };
  }

  #serve(): void {
    while (this.free > 0) {
      const next = this.#waiting.shift();
      if (!next) return;
      next();
    }
  }
}
