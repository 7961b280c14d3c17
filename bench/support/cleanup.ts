type Step = () => unknown;

/** What has to be undone, last made first. Ctrl-C undoes it too: databases would go on without us. */
export class Cleanup {
  readonly #steps: Step[] = [];
  readonly #interrupt = () => void this.run().finally(() => process.exit(130));

  constructor() {
    process.once('SIGINT', this.#interrupt);
    process.once('SIGTERM', this.#interrupt);
  }

  add(step: Step): void {
    this.#steps.push(step);
  }

  /** A step that fails does not keep the others from being taken; the first fault is thrown at the end. */
  async run(): Promise<void> {
    process.off('SIGINT', this.#interrupt);
    process.off('SIGTERM', this.#interrupt);
    const faults: unknown[] = [];
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      try {
        await step();
      } catch (error) {
        faults.push(error);
      }
    }
    if (faults.length > 0) throw faults[0];
  }
}
