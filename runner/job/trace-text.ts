const reset = '\x1b[0m';
const boldGreen = '\x1b[32;1m';
const boldRed = '\x1b[31;1m';
const yellow = '\x1b[33;1m';

export function noticeLine(text: string): string {
  return `${boldGreen}${text}${reset}\n`;
}

export function warningLine(text: string): string {
  return `${yellow}WARNING: ${text}${reset}\n`;
}

export function errorLine(text: string): string {
  return `${boldRed}ERROR: ${text}${reset}\n`;
}

/** What stands in the trace in front of a command of the job. */
export function commandEcho(text: string): string {
  return `${boldGreen}$ ${text}${reset}`;
}

/** Steps that a viewer of the trace may fold. */
export const sections = [
  'prepare_executor',
  'get_sources',
  'restore_cache',
  'download_artifacts',
  'step_script',
  'after_script',
  'archive_cache',
  'upload_artifacts_on_success',
  'upload_artifacts_on_failure',
] as const;
export type Section = (typeof sections)[number];

/** Markers end in a carriage return and "erase line", so that a plain terminal does not show them. */
export function sectionStart(name: Section, now: Date): string {
  return `section_start:${Math.floor(now.getTime() / 1000)}:${name}\r\x1b[0K`;
}

export function sectionEnd(name: Section, now: Date): string {
  return `section_end:${Math.floor(now.getTime() / 1000)}:${name}\r\x1b[0K`;
}
