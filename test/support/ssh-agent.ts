import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { wire } from './ssh-key-lines.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A key that, like one on a security token, signs a digest together with what the token says of the moment. */
export interface TokenKey {
  /** As it is added to an account. */
  line: string;
  blob: Buffer;
  sign(data: Buffer, flags: number): Buffer;
}

const application = Buffer.from('ssh:');
const counter = Buffer.from([0, 0, 0, 7]);

export function edwardsToken(): TokenKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const point = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  return tokenKey({
    type: 'sk-ssh-ed25519@openssh.com',
    fields: [point, application],
    signature: (data) => sign(null, data, privateKey),
  });
}

export function ecdsaToken(): TokenKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return tokenKey({
    type: 'sk-ecdsa-sha2-nistp256@openssh.com',
    fields: [Buffer.from('nistp256'), pointOf(publicKey), application],
    signature(data) {
      const numbers = sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' });
      return Buffer.concat([number(numbers.subarray(0, 32)), number(numbers.subarray(32))]);
    },
  });
}

function tokenKey(parts: { type: string; fields: Buffer[]; signature(data: Buffer): Buffer }): TokenKey {
  const type = Buffer.from(parts.type);
  const blob = Buffer.concat([type, ...parts.fields].map(wire));
  return {
    line: `${parts.type} ${blob.toString('base64')} token`,
    blob,
    sign(data, flags) {
      const moment = Buffer.concat([Buffer.from([flags]), counter]);
      const signed = Buffer.concat([sha256(application), moment, sha256(data)]);
      return Buffer.concat([wire(type), wire(parts.signature(signed)), moment]);
    },
  };
}

const ask = { identities: 11, sign: 13 };
const answers = { failure: 5, identities: 12, signature: 14 };

/**
 * An agent on a socket of its own that holds one key.
 *
 * @param flags what the token says: 1 when somebody touched it.
 * @returns the path of the socket.
 */
export async function startAgent(t: ExecutionContext, key: TokenKey, flags = 1): Promise<string> {
  const path = join(await temporaryFolder(t), 'agent');
  const server = createServer((socket) => serve(socket, (request) => reply(request, key, flags)));
  server.listen(path);
  await once(server, 'listening');
  t.teardown(() => server.close());
  return path;
}

function serve(socket: Socket, answer: (request: Buffer) => Buffer): void {
  let held = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    held = Buffer.concat([held, chunk]);
    while (held.length >= 4 && held.length >= 4 + held.readUInt32BE(0)) {
      const end = 4 + held.readUInt32BE(0);
      socket.write(wire(answer(held.subarray(4, end))));
      held = held.subarray(end);
    }
  });
}

function reply(request: Buffer, key: TokenKey, flags: number): Buffer {
  if (request[0] === ask.identities) {
    const count = Buffer.from([0, 0, 0, 1]);
    return Buffer.concat([
      Buffer.from([answers.identities]),
      count,
      wire(key.blob),
      wire(Buffer.from('token')),
    ]);
  }
  if (request[0] !== ask.sign) return Buffer.from([answers.failure]);
  const blobEnd = 5 + request.readUInt32BE(1);
  const data = request.subarray(blobEnd + 4, blobEnd + 4 + request.readUInt32BE(blobEnd));
  return Buffer.concat([Buffer.from([answers.signature]), wire(key.sign(data, flags))]);
}

function pointOf(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  return Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
}

/** A positive number: without zeros in front, but for one that keeps it positive. */
function number(bytes: Buffer): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const short = bytes.subarray(Math.max(0, start));
  return wire((short[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), short]) : short);
}

function sha256(data: Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}
