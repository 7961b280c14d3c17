/** Where a repository is imported from, with what opens it kept apart. */
export interface ImportSource {
  /** Without password, and without a user name where that belongs to the password. */
  url: string;
  /** `user:password` as it was given, or null. */
  credentials: string | null;
}

const schemes = new Set(['http:', 'https:', 'git:', 'ssh:']);
/** A name or an address; what the name servers of the world know, and nothing that a program takes for an option. */
const hostForm = /^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9.])?)$/i;
const sshUserForm = /^[a-z0-9_][a-z0-9_.-]*$/i;

/** @returns null for what is no address to import from. */
export function readImportUrl(text: string): ImportSource | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in it
  if (/[\s\u0000-\u001f\u007f\\]/.test(text) || !/^[a-z]+:\/\/[^/]/i.test(text) || !URL.canParse(text))
    return null;
  const url = new URL(text);
  if (!schemes.has(url.protocol) || !hostForm.test(url.hostname)) return null;
  url.hash = '';
  const [user, password] = [decode(url.username), decode(url.password)];
  if (user === null || password === null) return null;
  url.password = '';
  if (url.protocol === 'ssh:') {
    if (user !== '' && !sshUserForm.test(user)) return null;
    return { url: url.href, credentials: null };
  }
  url.username = '';
  return { url: url.href, credentials: user === '' && password === '' ? null : `${user}:${password}` };
}

/** Without the percent signs. Null for what is none, or would end a line. */
function decode(text: string): string | null {
  try {
    const decoded = decodeURIComponent(text);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in it
    return /[\u0000-\u001f\u007f]/.test(decoded) ? null : decoded;
  } catch {
    return null;
  }
}
