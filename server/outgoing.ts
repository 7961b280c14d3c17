import { type LookupAddress, lookup } from 'node:dns';
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress, readWebAddress, type WebAddress } from './policy/public-address.ts';

/** An address that nobody may be sent to from here, or no address at all. Asking again will not help. */
export class OutgoingRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OutgoingRefused';
  }
}

export interface AddressRules {
  /** Whether addresses of this machine and of private networks may be reached: the setting of the administrator. */
  allowPrivate: boolean;
}

export interface OutgoingRequest extends AddressRules {
  /** `http` or `https`; a user and password in it go out as basic authentication. */
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body: string;
  /** Milliseconds for all of it, from the name to the last byte of the answer. */
  timeoutMs: number;
  /** Whether the certificate of the other side has to be good. */
  verifyTls: boolean;
  /** Bytes of the answer's body that are read; the rest is left unread. */
  maxBytes: number;
}

export interface OutgoingAnswer {
  status: number;
  /** As much of it as was read. */
  body: string;
}

/**
 * Addresses behind the host of a URL, each of which may be connected to. Whoever connects has to take one of these
 * and must not ask for the name again: the next answer may be another one.
 *
 * @param host a name, or an address with or without brackets.
 * @throws OutgoingRefused when there is none that may be reached.
 * @throws Error of the resolver, such as `ENOTFOUND`.
 */
export async function resolveAllowed(host: string, rules: AddressRules): Promise<LookupAddress[]> {
  const name = host.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(name);
  const found = family === 0 ? await resolve(name) : [{ address: name, family }];
  const allowed = rules.allowPrivate ? found : found.filter(({ address }) => isPublicAddress(address));
  if (allowed.length === 0) throw new OutgoingRefused('the address is in a network that may not be reached');
  return allowed;
}

function resolve(name: string): Promise<LookupAddress[]> {
  return new Promise((done, fail) => {
    lookup(name, { all: true }, (error, addresses) => (error ? fail(error) : done(addresses)));
  });
}

/**
 * One request to an address that a user has given. No redirect is followed, no proxy is used, and the connection
 * goes to an address that was checked. An answer counts once its head is there, however its body goes on.
 *
 * @throws OutgoingRefused when the address may not be reached.
 * @throws Error when no answer came in time, or the connection failed.
 */
export async function sendOutgoing(wanted: OutgoingRequest): Promise<OutgoingAnswer> {
  const target = readWebAddress(wanted.url);
  if (!target) throw new OutgoingRefused('only http and https addresses are called');
  const late = AbortSignal.timeout(wanted.timeoutMs);
  const tooLate = new Promise<never>((_, fail) => {
    late.addEventListener('abort', () => fail(new Error(`no answer within ${wanted.timeoutMs} ms`)));
  });
  // Whoever loses the race has nobody left to be told.
  tooLate.catch(() => undefined);
  const addresses = await Promise.race([resolveAllowed(target.url.hostname, wanted), tooLate]);
  const request = open(target, wanted, addresses);
  try {
    const response = await Promise.race([headOf(request, wanted.body), tooLate]);
    return { status: response.statusCode ?? 0, body: await readSome(response, { ...wanted, late }) };
  } finally {
    request.destroy();
  }
}

function open(
  { url, credentials }: WebAddress,
  { method, headers, verifyTls }: OutgoingRequest,
  addresses: LookupAddress[],
): ClientRequest {
  const pinned: LookupFunction = (_name, { all }, done) => {
    const [first] = addresses;
    if (all || !first) done(null, addresses);
    else done(null, first.address, first.family);
  };
  const options: RequestOptions & { rejectUnauthorized: boolean } = {
    method,
    headers: { ...headers, Connection: 'close' },
    lookup: pinned,
    // One connection per request: none may outlive a change of the rules.
    agent: false,
    rejectUnauthorized: verifyTls,
    ...(credentials === null ? {} : { auth: credentials }),
  };
  return url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
}

function headOf(request: ClientRequest, body: string): Promise<IncomingMessage> {
  return new Promise((done, fail) => {
    request.on('response', done);
    request.on('error', fail);
    request.end(body);
  });
}

/** The beginning of the body; what comes too late, breaks off or is too much is left out. */
function readSome(
  response: IncomingMessage,
  { maxBytes, late }: { maxBytes: number; late: AbortSignal },
): Promise<string> {
  return new Promise((done) => {
    const parts: Buffer[] = [];
    let length = 0;
    const finish = () => done(Buffer.concat(parts).subarray(0, maxBytes).toString('utf8'));
    response.on('data', (part: Buffer) => {
      parts.push(part);
      length += part.length;
      if (length >= maxBytes) finish();
    });
    response.on('close', finish);
    response.on('error', finish);
    late.addEventListener('abort', finish);
  });
}
