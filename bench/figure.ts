/** One line of the result: what was measured of ours beside its limit. */
export interface Figure {
  name: string;
  unit: string;
  ours: number;
  limit: number;
  /** How the two compare: a quotient, or what ours has more. */
  ratio: number;
  /** In words. */
  target: string;
  isMet: boolean;
}

export interface BenchmarkSettings {
  /** Factor on the amount of work; 1 is the size that the targets are for. */
  scale: number;
}

/** Throws Skipped where something that it needs is not on this machine. */
export type Benchmark = (settings: BenchmarkSettings) => Promise<Figure[]>;

/** A benchmark that cannot run here, and why. */
export class Skipped extends Error {}

interface Pair {
  name: string;
  unit: string;
  ours: number;
  limit: number;
}

/** More is better: ours must reach `least` of the limit. */
export function throughput(pair: Pair, least: number): Figure {
  const ratio = pair.ours / pair.limit;
  return { ...pair, ratio, target: `≥ ${least}`, isMet: ratio >= least };
}

/** Less is better: ours may take `most` times the limit. */
export function cost(pair: Pair, most: number): Figure {
  const ratio = pair.ours / pair.limit;
  return { ...pair, ratio, target: `≤ ${most}x`, isMet: ratio <= most };
}

/** Less is better: ours may take `most` of its unit more than the limit. */
export function surplus(pair: Pair, most: number): Figure {
  const ratio = pair.ours - pair.limit;
  return { ...pair, ratio, target: `≤ +${most} ${pair.unit}`, isMet: ratio <= most };
}

/** Less is better: ours may reach the limit, which is a fixed number. */
export function bound(pair: Pair): Figure {
  const ratio = pair.ours / pair.limit;
  return { ...pair, ratio, target: `≤ ${pair.limit} ${pair.unit}`, isMet: ratio <= 1 };
}
