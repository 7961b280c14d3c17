import { mkdtempSync, realpathSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { Hearth, type HearthOptions } from './hearth.ts';
import { processesAbout } from './program.ts';

/**
 * Starts the servers of one test file. After its tests they are stopped, which must go well and leave no process.
 * What they logged is shown with each test that fails.
 */
export function withHearth(): {
  start(options?: HearthOptions & { folder?: string }): Promise<Hearth>;
  /** A new folder that goes after the tests. */
  folder(): Promise<string>;
  /** Does something once the servers are stopped. */
  later(step: () => Promise<void>): void;
} {
  const all: Hearth[] = [];
  const steps: (() => Promise<void>)[] = [];
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hearth-s-')));
  test.afterEach.always((t) => {
    if (!t.passed) for (const hearth of all) t.log(hearth.log());
  });
  test.after.always(async (t) => {
    const codes: (number | null)[] = [];
    for (const hearth of all.reverse()) codes.push(...(await hearth.stop()));
    for (const step of steps) await step();
    const left = await processesAbout(root);
    await rm(root, { recursive: true, force: true });
    if (codes.some((code) => code !== 0)) for (const hearth of all) t.log(hearth.log());
    t.deepEqual(
      codes,
      codes.map(() => 0),
    );
    t.deepEqual(left, []);
  });
  const folder = () => mkdtemp(join(root, 'h-'));
  return {
    folder,
    later: (step) => void steps.push(step),
    async start({ folder: given, ...options } = {}) {
      const hearth = new Hearth(given ?? (await folder()), options);
      all.push(hearth);
      await hearth.started();
      return hearth;
    },
  };
}
