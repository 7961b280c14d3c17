/** Schemes that a browser does not leave the page for, or that show what a program cannot answer for. */
const harmful = /^(?:about|blob|data|file|filesystem|javascript|urn|vbscript|view-source):/i;
const mostUris = 20;
const longest = 2000;

/**
 * What is wrong with the addresses that a program may be called back at, as the text of a failed validation; null when
 * nothing is. Each is compared letter by letter later, so all that matters is where a browser would go with it.
 */
export function faultOfRedirectUris(uris: string[]): string | null {
  if (uris.length === 0) return "can't be blank";
  if (uris.length > mostUris) return `is too long (maximum is ${mostUris} addresses)`;
  for (const uri of uris) {
    const fault = faultOf(uri);
    if (fault) return fault;
  }
  return null;
}

function faultOf(uri: string): string | null {
  if (uri.length > longest) return `is too long (maximum is ${longest} characters)`;
  if (uri.includes('#')) return 'cannot contain a fragment';
  if (!/^[a-z][a-z0-9+.-]+:./i.test(uri)) return 'must be an absolute URI';
  // Browsers drop tabs and line breaks, and take a backslash for a slash.
  if (!/^[\x21-\x7e]+$/.test(uri) || /["<>\\^`{|}]/.test(uri) || harmful.test(uri)) return 'is invalid';
  if (!URL.canParse(uri)) return 'is invalid';
  return /^https?:/i.test(uri) && !isPlainWebAddress(uri) ? 'is invalid' : null;
}

/** Without a user in front of the host: `https://known.example@other.example` leads elsewhere than it seems. */
function isPlainWebAddress(uri: string): boolean {
  const { username, password, hostname } = new URL(uri);
  const isHost = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(hostname);
  return /^https?:\/\/[^/?]/i.test(uri) && isHost && username === '' && password === '';
}

/**
 * The address with further parameters in its query. Nothing in front of them changes, so that it leads where the
 * registered one does.
 */
export function withParameters(uri: string, parameters: Record<string, string>): string {
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(parameters)}`;
}

/** What a policy of a page names to allow going there: scheme, host and port, or the scheme where it has no host. */
export function sourceOf(uri: string): string {
  const { protocol, origin } = new URL(uri);
  return /^https?:$/.test(protocol) ? origin : protocol;
}
