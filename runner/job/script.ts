import type { BuildPayload, BuildVariable } from '../../shared/protocol/build.ts';
import { commandEcho } from './trace-text.ts';

export interface ScriptRequest {
  items: ScriptItem[];
  variables: BuildVariable[];
  /** Absolute path where the commands start. */
  directory: string;
}

/** Some lines of shell that are run as they are, and what is shown before. */
export interface ScriptItem {
  code: string;
  echo: string[];
}

/** Shells own these; to set them is an error that would end the script. */
const readOnlyNames = new Set(['BASHOPTS', 'BASH_VERSINFO', 'EUID', 'PPID', 'SHELLOPTS', 'UID']);

/** POSIX single quotes: every shell reads the same text, whatever it holds. NUL cannot be in a shell's text. */
export function quote(text: string): string {
  return `'${text.replaceAll('\0', '').replaceAll("'", `'\\''`)}'`;
}

/** Whether a shell can hold a variable of this name. */
export function isExportable(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !readOnlyNames.has(name);
}

/**
 * The items of `before_script` and `script`. A server that sends only the joined text gets it run as one
 * item, since its lines may belong together.
 */
export function mainItems(build: Pick<BuildPayload, 'commands' | 'ext'>): ScriptItem[] {
  if (build.ext) return scriptItems(build.ext.script);
  const echo = nonEmptyLines(build.commands);
  return echo.length > 0 ? [{ code: build.commands, echo }] : [];
}

/** Each text becomes one item that shows its first line. */
export function scriptItems(texts: string[]): ScriptItem[] {
  return texts.flatMap((code) => {
    const [first, ...rest] = nonEmptyLines(code);
    if (first === undefined) return [];
    return [{ code, echo: [rest.length > 0 ? `${first} # collapsed multi-line command` : first] }];
  });
}

function nonEmptyLines(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== '');
}

/**
 * A shell program for bash and for any POSIX sh. It stops at the first command that fails. The items run in
 * one shell, so that directories, variables and functions last from one to the next.
 */
export function shellProgram({ items, variables, directory }: ScriptRequest): string {
  const exported = variables.filter((variable) => isExportable(variable.key));
  const isTraced = exported.findLast((variable) => variable.key === 'CI_DEBUG_TRACE')?.value === 'true';
  return [
    // Older shells without pipefail would end at an unknown option, hence the trial in a subshell.
    'if (set -o pipefail) 2>/dev/null; then set -o pipefail; fi',
    'set -e +C',
    ...exported.map((variable) => `export ${variable.key}=${quote(variable.value)}`),
    `cd ${quote(directory)}`,
    ...(isTraced ? ['set -x'] : []),
    ...items.map((item, index) => runItem(item, index === items.length - 1)),
    '',
  ].join('\n');
}

/**
 * `eval` keeps a syntax error or an open quote inside its item. The colon keeps the status of an item such as
 * `test -f x && echo yes`, which `set -e` lets pass, from failing the `eval`; after the last item that
 * status is the result of the program, as it would be in a plain file. A job may close its outputs: that what is
 * shown cannot be written then is no fault of its commands.
 */
function runItem({ code, echo }: ScriptItem, isLast: boolean): string {
  const shown = `printf '%s\\n' ${echo.map((line) => quote(commandEcho(line))).join(' ')} || :`;
  return `${shown}\neval ${quote(isLast ? code : `${code}\n:`)} </dev/null`;
}
