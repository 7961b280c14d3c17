import { createHash } from 'node:crypto';

/** Lines of Ed25519 keys that nobody has; the same word gives the same key. */
export function sshKeyLine(word: string, comment = 'someone@example.com'): string {
  const type = 'ssh-ed25519';
  const point = createHash('sha256').update(word).digest();
  return `${type} ${Buffer.concat([wire(Buffer.from(type)), wire(point)]).toString('base64')} ${comment}`;
}

export function wire(data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, data]);
}
