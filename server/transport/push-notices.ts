import type { PushPipelineRow } from '../queries/push-pipelines.ts';

/** What came of a push. */
export interface PushOutcome {
  pipelines: PushPipelineRow[];
  /** Refs that got no pipeline because there were too many. */
  leftOut: number;
  pipelinesPerPush: number;
}

interface Telling extends PushOutcome {
  /** Push options that mean nothing here. */
  unknownOptions: string[];
  /** Names that are no UTF-8, as they are shown. */
  unreadableRefs: string[];
}

const maxErrors = 5;
const maxWarnings = 3;
const maxLines = 60;
const maxLength = 200;

/**
 * The lines that a pusher's terminal shows: few, short, and without characters that would do something to it. They
 * are the same for clients that ask for quiet, as git does whenever it does not write to a terminal.
 */
export function linesForPusher(telling: Telling): string[] {
  const { pipelines, leftOut, pipelinesPerPush, unknownOptions, unreadableRefs } = telling;
  const all = unreadableRefs.map((ref) => `The name of ${ref} is not UTF-8: it was not pushed`);
  all.push(...unknownOptions.map((option) => `Push option ${option} is not known here`));
  if (leftOut > 0) {
    all.push(`No pipeline for ${leftOut} of the refs: one push starts at most ${pipelinesPerPush}`);
  }
  all.push(...pipelines.flatMap(linesOf));
  const lines = all.slice(0, maxLines).map(printable);
  const rest = all.length - lines.length;
  return rest > 0 ? [...lines, `${rest} more lines are not shown`] : lines;
}

function linesOf({ id, ref, status, yaml_errors, yaml_warnings }: PushPipelineRow): string[] {
  const outcome = yaml_errors ? 'failed: .gitlab-ci.yml cannot be used' : `is ${status}`;
  const errors = firstOf(yaml_errors, { count: maxErrors, kind: 'error' });
  const warnings = firstOf(yaml_warnings, { count: maxWarnings, kind: 'warning' });
  return [`Pipeline ${id} of ${ref} ${outcome}`, ...errors, ...warnings];
}

function firstOf(text: string | null, { count, kind }: { count: number; kind: string }): string[] {
  const lines = text ? text.split('\n') : [];
  const shown = lines.slice(0, count).map((line) => `  ${kind}: ${line}`);
  const rest = lines.length - shown.length;
  return rest > 0 ? [...shown, `  and ${rest} more ${kind}${rest > 1 ? 's' : ''}`] : shown;
}

function printable(text: string): string {
  const characters = [...text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, ' ').trimEnd()];
  return characters.length > maxLength ? `${characters.slice(0, maxLength).join('')}…` : characters.join('');
}
