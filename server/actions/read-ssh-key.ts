import { createHash, createPublicKey } from 'node:crypto';
import { fieldsOf, type WireFields } from '../policy/ssh-wire.ts';

/** A public key as it is stored and compared. */
export interface SshKey {
  /** Type, base64 and comment, with one space between them. */
  text: string;
  /** MD5: 16 pairs of hexadecimal digits with colons. */
  fingerprint: string;
  /** As OpenSSH prints it, with `SHA256:` in front. */
  fingerprintSha256: string;
}

/** What is wrong with a key, by the attribute that it is told of. */
export type SshKeyFaults = { key?: string[]; fingerprint?: string[] };

export type ReadSshKey = { key: SshKey } | { faults: SshKeyFaults };

/** Characters. */
const maxLength = 5000;
/** Shorter moduli can be factored. */
const leastRsaBits = 2048;
const mostRsaBits = 16_384;
const unreadable = ['cannot be generated'];

/** Reads each type's fields from the decoded part; null where they are not what the type asks for. */
const types: Record<string, (fields: WireFields) => string[] | null> = {
  'ssh-rsa': checkRsa,
  'ssh-ed25519': (fields) => (fields.length === 1 && isEdwards(fields[0]) ? [] : null),
  'sk-ssh-ed25519@openssh.com': (fields) =>
    fields.length === 2 && isEdwards(fields[0]) && isApplication(fields[1]) ? [] : null,
  'sk-ecdsa-sha2-nistp256@openssh.com': (fields) =>
    fields.length === 3 && isPoint('nistp256', fields) && isApplication(fields[2]) ? [] : null,
  'ecdsa-sha2-nistp256': (fields) => (fields.length === 2 && isPoint('nistp256', fields) ? [] : null),
  'ecdsa-sha2-nistp384': (fields) => (fields.length === 2 && isPoint('nistp384', fields) ? [] : null),
  'ecdsa-sha2-nistp521': (fields) => (fields.length === 2 && isPoint('nistp521', fields) ? [] : null),
};

/**
 * Reads a line of an `authorized_keys` file without options: RSA of at least 2048 bits, ECDSA, Ed25519, and the last
 * two on a security key. Certificates, DSA and private keys are refused, and so is whatever is not exactly a key.
 */
export function readSshKey(given: string): ReadSshKey {
  const line = given.trim();
  if (line === '') return { faults: { key: ["can't be blank"] } };
  if (line.length > maxLength)
    return { faults: { key: [`is too long (maximum is ${maxLength} characters)`] } };
  if (/[\r\n]/.test(line)) return refused('should be a single line');
  const [type = '', base64 = '', ...comment] = line.split(/[ \t]+/);
  if (!/^(?:ssh|ecdsa|sk)-/.test(type) || hasControls(line)) return refused('is invalid');
  if (type === 'ssh-dss') return refused('is of the type DSA, which is no longer safe');
  const data = decode(base64);
  const fields = data && fieldsOf(data);
  if (!data || !fields) return { faults: { fingerprint: unreadable } };
  const faults = fields[0]?.toString('latin1') === type ? types[type]?.(fields.slice(1)) : null;
  if (!faults) return { faults: { fingerprint: unreadable } };
  if (faults[0] !== undefined) return refused(faults[0]);
  return { key: { text: [type, base64, ...comment].join(' '), ...fingerprints(data) } };
}

function refused(text: string): ReadSshKey {
  return { faults: { key: [text], fingerprint: unreadable } };
}

/** Tabs may stand between the parts; nothing else below the space may be anywhere. */
function hasControls(line: string): boolean {
  return /[^\P{Cc}\t]/u.test(line);
}

/** Exactly the base64 of some bytes: anything looser would give one key several texts. */
function decode(base64: string): Buffer | null {
  const data = Buffer.from(base64, 'base64');
  return data.length > 0 && data.toString('base64') === base64 ? data : null;
}

function fingerprints(data: Buffer): Pick<SshKey, 'fingerprint' | 'fingerprintSha256'> {
  const md5 = createHash('md5').update(data).digest('hex');
  const sha256 = createHash('sha256').update(data).digest('base64').replace(/=+$/, '');
  return { fingerprint: md5.replace(/..(?!$)/g, '$&:'), fingerprintSha256: `SHA256:${sha256}` };
}

function checkRsa([exponent, modulus, ...more]: WireFields): string[] | null {
  if (!isOddNumber(exponent) || !isOddNumber(modulus) || more.length > 0) return null;
  const bits = bitsOf(modulus);
  if (bits < leastRsaBits) return [`is too short for RSA (minimum is ${leastRsaBits} bits)`];
  if (bits > mostRsaBits) return [`is too long for RSA (maximum is ${mostRsaBits} bits)`];
  // An exponent of 1 encrypts nothing.
  return bitsOf(exponent) >= 2 && bitsOf(exponent) <= bits ? [] : null;
}

/** A positive number as the wire writes it, with no byte too many. */
function isOddNumber(number: Buffer | undefined): number is Buffer {
  const [first, second = 0] = number ?? [];
  if (!number || first === undefined || first >= 0x80 || (first === 0 && second < 0x80)) return false;
  return ((number.at(-1) ?? 0) & 1) === 1;
}

function bitsOf(number: Buffer): number {
  const digits = number[0] === 0 ? number.subarray(1) : number;
  return digits.length * 8 - Math.clz32(digits[0] ?? 0) + 24;
}

function isEdwards(point: Buffer | undefined): boolean {
  return point?.length === 32;
}

/** What a security key was asked to sign for. */
function isApplication(name: Buffer | undefined): boolean {
  return name !== undefined && name.length > 0;
}

const curves = {
  nistp256: { crv: 'P-256', bytes: 32 },
  nistp384: { crv: 'P-384', bytes: 48 },
  nistp521: { crv: 'P-521', bytes: 66 },
} as const;

/** The name of the curve and an uncompressed point that lies on it. */
function isPoint(name: keyof typeof curves, [named, point]: WireFields): boolean {
  const { crv, bytes } = curves[name];
  if (named?.toString('latin1') !== name || point?.length !== 1 + 2 * bytes || point[0] !== 4) return false;
  const x = point.subarray(1, 1 + bytes).toString('base64url');
  const y = point.subarray(1 + bytes).toString('base64url');
  try {
    createPublicKey({ key: { kty: 'EC', crv, x, y }, format: 'jwk' });
    return true;
  } catch {
    // Not on the curve.
    return false;
  }
}
