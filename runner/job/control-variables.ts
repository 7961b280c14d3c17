import { DurationError, parseDuration } from '../../shared/duration.ts';
import type { BuildVariable } from '../../shared/protocol/build.ts';
import { ExecutorError } from '../executor/executor-error.ts';
import { textVariable } from './variables.ts';

/**
 * Variables with which a job steers the runner. A value that cannot be read is the fault of the job where it
 * decides what the job finds; where it is a number, a warning says what is taken instead.
 */
export interface ControlVariable {
  variables: BuildVariable[];
  key: string;
  warn(text: string): void;
}

/** @throws ExecutorError of the job for any other value. */
export function choiceVariable<T extends string>(
  { variables, key }: Pick<ControlVariable, 'variables' | 'key'>,
  choices: readonly T[],
): T | undefined {
  const value = textVariable(variables, key);
  const found = choices.find((choice) => choice === value);
  if (value !== undefined && found === undefined) {
    throw new ExecutorError('user', `${key} must be ${listed(choices)}, not "${value}"`);
  }
  return found;
}

function listed(choices: readonly string[]): string {
  return `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}

export interface NumberRange {
  fallback: number;
  min: number;
  max: number;
}

export function numberVariable(control: ControlVariable, range: NumberRange): number {
  const { fallback, min, max } = range;
  const value = textVariable(control.variables, control.key);
  if (value === undefined) return fallback;
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  control.warn(
    `${control.key} must be a whole number from ${min} to ${max}, not "${value}"; ${fallback} is taken`,
  );
  return fallback;
}

/** How often a step is tried. */
export function attemptsVariable(control: ControlVariable): number {
  return numberVariable(control, { fallback: 1, min: 1, max: 10 });
}

/** Seconds of a time such as `90`, `10m` or `1h 30m`; undefined when there is none that can be read. */
export function timeVariable(control: ControlVariable): number | undefined {
  const value = textVariable(control.variables, control.key);
  if (value === undefined) return undefined;
  const seconds = readTime(value);
  if (seconds !== null) return seconds;
  control.warn(`${control.key} must be a time such as 10m, not "${value}"; it is ignored`);
  return undefined;
}

function readTime(text: string): number | null {
  try {
    const seconds = parseDuration(text);
    return seconds !== null && seconds >= 1 ? seconds : null;
  } catch (error) {
    if (error instanceof DurationError) return null;
    throw error;
  }
}

/** Words of a list of options; `none` stands for an empty one. */
export function wordsVariable(variables: BuildVariable[], key: string): string[] | undefined {
  const words = textVariable(variables, key)?.trim().split(/\s+/);
  return words?.join() === 'none' ? [] : words;
}
