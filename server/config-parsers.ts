import { z } from 'zod';
import type { MailAddress, SmtpServer } from './mail/mailer.ts';

/** Where a server listens. Port 0 takes a free one. */
export interface ListenAddress {
  /** A name or an address, IPv6 without brackets. */
  host: string;
  port: number;
}

export type BlobStore =
  | { kind: 'file' }
  | {
      kind: 's3';
      bucket: string;
      /** Put before every key; empty or with a slash at its end. */
      prefix: string;
      endpoint: string | null;
      region: string;
      credentials: { accessKeyId: string; secretAccessKey: string } | null;
    };

/** A text that `parse` turns into a value; null from it means that the text is not what `expected` says. */
function parsed<T>(expected: string, parse: (text: string) => T | null) {
  return z.string().transform((text, context) => {
    const value = parse(text);
    if (value !== null) return value;
    context.addIssue({ code: 'custom', message: expected });
    return z.NEVER;
  });
}

export const listenAddress = parsed('expected HOST:PORT, such as 127.0.0.1:3000 or [::]:3000', parseListen);

function parseListen(text: string): ListenAddress | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+)):(\d{1,5})$/i.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host !== undefined && port <= 65535 ? { host, port } : null;
}

export const webAddress = parsed(
  'expected an http or https URL, such as https://hearth.example.com',
  (text) => {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null || !/^https?:$/.test(url.protocol)) return null;
    if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') return null;
    return url.href.replace(/\/+$/, '');
  },
);

export const databaseUrl = parsed(
  'expected postgres://USER:PASSWORD@HOST:PORT/DATABASE (a socket folder as host with %2F for each slash)',
  (text) => {
    const url = URL.canParse(text) ? new URL(text) : null;
    const isComplete = url !== null && url.hostname !== '' && url.pathname.length > 1;
    return isComplete && /^postgres(ql)?:$/.test(url.protocol) ? text : null;
  },
);

export const blobStore = parsed(
  'expected file: or s3://BUCKET?endpoint=URL (optional: KEY:SECRET@ before the bucket, a prefix after it, region=)',
  (text): BlobStore | null => {
    if (text === 'file:') return { kind: 'file' };
    return URL.canParse(text) ? parseS3(new URL(text)) : null;
  },
);

const S3_PARAMETERS = ['endpoint', 'region'];

function parseS3(url: URL): BlobStore | null {
  if (url.protocol !== 's3:' || url.hostname === '' || url.hash !== '') return null;
  if ([...url.searchParams.keys()].some((name) => !S3_PARAMETERS.includes(name))) return null;
  if ((url.username === '') !== (url.password === '')) return null;
  const endpoint = url.searchParams.get('endpoint');
  if (endpoint !== null && !/^https?:\/\/./.test(endpoint)) return null;
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '');
  return {
    kind: 's3',
    bucket: url.hostname,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint,
    region: url.searchParams.get('region') ?? 'us-east-1',
    credentials:
      url.username === ''
        ? null
        : {
            accessKeyId: decodeURIComponent(url.username),
            secretAccessKey: decodeURIComponent(url.password),
          },
  };
}

export const smtpServer = parsed(
  'expected smtp://HOST:PORT or smtps://HOST:PORT (optional: USER:PASSWORD@ before the host)',
  (text) => (URL.canParse(text) ? parseSmtp(new URL(text)) : null),
);

function parseSmtp(url: URL): SmtpServer | null {
  if (!/^smtps?:$/.test(url.protocol) || url.hostname === '') return null;
  if (!/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '') return null;
  if ((url.username === '') !== (url.password === '')) return null;
  const secure = url.protocol === 'smtps:';
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    login:
      url.username === ''
        ? null
        : { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) },
  };
}

export const mailAddress = parsed(
  'expected an address, such as Hearth <hearth@example.com>',
  (text): MailAddress | null => {
    const match = /^(?:([^<>@\p{Cc}]*)<([^<>]+)>|([^<>]+))$/u.exec(text.trim());
    const address = match?.[2] ?? match?.[3] ?? '';
    if (!/^[^\s@,;:"()]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(address)) return null;
    return { name: match?.[1]?.trim().replace(/^"(.*)"$/, '$1') || 'Hearth', address };
  },
);

export const onOrOff = parsed('expected 1 or 0', (text) => (/^[01]$/.test(text) ? text === '1' : null));

/** A text of a given form, for values whose form matters and whose content is not looked at. */
export function textLike(pattern: RegExp, expected: string) {
  return parsed(expected, (text) => (pattern.test(text) ? text : null));
}

export function oneOf<const T extends string>(values: readonly T[]) {
  return parsed(
    `expected one of ${values.join(', ')}`,
    (text) => values.find((value) => value === text) ?? null,
  );
}
