import type { GitRight } from '../transport/git-access.ts';

export type SshService = 'git-upload-pack' | 'git-receive-pack' | 'git-upload-archive';

/** The right that a client needs, by what it wants git to do. */
export const rightFor: Record<SshService, GitRight> = {
  'git-upload-pack': 'read',
  'git-receive-pack': 'write',
  'git-upload-archive': 'read',
};

export interface SshCommand {
  service: SshService;
  /** `namespace/project`; a text that cannot be one names no project. */
  path: string;
}

const pattern = /^git[- ](upload-pack|receive-pack|upload-archive) +(.+)$/s;

/** Reads the command that git asks SSH to run; null for everything else. No part of it ever reaches a shell. */
export function readCommand(text: string): SshCommand | null {
  const [, name, given] = pattern.exec(text.trim()) ?? [];
  const argument = given === undefined ? null : unquote(given);
  if (name === undefined || argument === null) return null;
  const path = argument
    .replace(/^\//, '')
    .replace(/\/$/, '')
    .replace(/\.git$/, '');
  return { service: `git-${name}` as SshService, path: /^[^/\0]+\/[^/\0]+$/.test(path) ? path : '' };
}

/** One word of a shell: git puts it in single quotes, people write it plain or in double quotes. */
function unquote(text: string): string | null {
  const quoted = /^'((?:[^'\\]|'\\[!']'|\\)*)'$/s.exec(text)?.[1];
  if (quoted !== undefined) return quoted.replaceAll(/'\\([!'])'/g, '$1');
  const doubled = /^"([^"\\$`]*)"$/s.exec(text)?.[1];
  return doubled ?? (/^[^\s'"\\$`;&|<>(){}*?#~!]+$/.test(text) ? text : null);
}
