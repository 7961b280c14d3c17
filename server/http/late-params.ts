import { AppError } from '../errors.ts';
import type { Param } from './params.ts';

/** A parameter that was read, or what is wrong with it. */
export type Late<T> = { value: T } | { faults: string[] };

/**
 * The same parameter, but its faults are handed to the handler, which tells of all of them at once, with the status
 * that its row of the interface asks for.
 */
export function late<T>(inner: Param<T>): Param<Late<T>> {
  return {
    ...inner,
    read(raw, name) {
      try {
        return { value: inner.read(raw, name) };
      } catch (error) {
        return { faults: faultsOf(error, name) };
      }
    },
  };
}

/** @throws what is no fault of this parameter. */
function faultsOf(error: unknown, name: string): string[] {
  if (!(error instanceof AppError) || typeof error.body === 'string' || Array.isArray(error.body))
    throw error;
  const texts = error.body[name];
  if (!Array.isArray(texts)) throw error;
  return texts;
}

type LateValues = Record<string, Late<unknown> | undefined>;

export interface Settled<V extends LateValues> {
  /** Those without faults. */
  values: { [K in keyof V]?: V[K] extends Late<infer T> | undefined ? T : never };
  faults: Record<string, string[]>;
}

/** Parts what was read from what could not be. */
export function settle<V extends LateValues>(given: V): Settled<V> {
  const values: Record<string, unknown> = {};
  const faults: Record<string, string[]> = {};
  for (const [name, read] of Object.entries(given)) {
    if (read === undefined) continue;
    if ('faults' in read) faults[name] = read.faults;
    else values[name] = read.value;
  }
  return { values: values as Settled<V>['values'], faults };
}
