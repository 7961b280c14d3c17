import { performance } from 'node:perf_hooks';

/** Milliseconds that something took. */
export async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = Number.NaN, high = Number.NaN] = [sorted[middle - 1], sorted[middle]];
  return sorted.length % 2 === 1 ? high : (low + high) / 2;
}

export interface Contest {
  rounds: number;
  ours(): Promise<number>;
  limit(): Promise<number>;
}

/** Medians of both, measured in turns, so that a machine that gets slower meanwhile is as unfair to the one as to the other. */
export async function takeTurns({ rounds, ours, limit }: Contest): Promise<{ ours: number; limit: number }> {
  const values = { ours: [] as number[], limit: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    values.limit.push(await limit());
    values.ours.push(await ours());
  }
  return { ours: median(values.ours), limit: median(values.limit) };
}

/** Calls `send` from each of `lanes` lanes one after the other for some seconds. @returns calls per second. */
export async function callsPerSecond(
  { lanes, seconds }: { lanes: number; seconds: number },
  send: () => Promise<unknown>,
): Promise<number> {
  const start = performance.now();
  const end = start + seconds * 1000;
  let count = 0;
  async function lane(): Promise<void> {
    while (performance.now() < end) {
      await send();
      count += 1;
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane));
  return (count * 1000) / (performance.now() - start);
}

/** Runs `work` for 0 … count − 1, always `lanes` of them at once. @returns how many per second. */
export async function eachPerSecond(
  { lanes, count }: { lanes: number; count: number },
  work: (index: number, lane: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  async function lane(_: unknown, number: number): Promise<void> {
    while (next < count) {
      next += 1;
      await work(next - 1, number);
    }
  }
  const ms = await elapsed(() => Promise.all(Array.from({ length: lanes }, lane)));
  return (count * 1000) / ms;
}
