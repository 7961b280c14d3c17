import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { fieldsOf, type WireFields } from '../policy/ssh-wire.ts';

/** What a client sends to show that it has a key. */
export interface Proof {
  /** The public key in its wire form. */
  key: Buffer;
  /** Hash that the client names; only RSA has a choice. */
  hash: string | undefined;
  /** What it has signed. */
  signed: Buffer;
  /** Without the name in front; that of ECDSA in DER. */
  signature: Buffer;
}

const curves: Record<string, string> = { nistp256: 'P-256', nistp384: 'P-384', nistp521: 'P-521' };
const rsaHashes = ['sha256', 'sha512'];

/** Whether a signature is right for a key of one type, by the fields after its name. May throw for what is no key. */
type Scheme = (fields: WireFields, proof: Proof) => boolean;

const schemes = new Map<string, Scheme>([
  ['ssh-rsa', checkRsa],
  ['ssh-ed25519', ([point], { signed, signature }) => verify(null, signed, edwardsKey(point), signature)],
  ['ecdsa-sha2-nistp256', checkEcdsa('sha256')],
  ['ecdsa-sha2-nistp384', checkEcdsa('sha384')],
  ['ecdsa-sha2-nistp521', checkEcdsa('sha512')],
  ['sk-ssh-ed25519@openssh.com', checkEdwardsToken],
  ['sk-ecdsa-sha2-nistp256@openssh.com', checkEcdsaToken],
]);

/** Whether a client may try with a key of this type and hash: nothing that rests on SHA-1. */
export function isUsable({ algorithm, hash }: { algorithm: string; hash: string | undefined }): boolean {
  return algorithm === 'ssh-rsa' ? isRsaHash(hash) : schemes.has(algorithm);
}

/** Whether the signature was made with the key. */
export function isProven(proof: Proof): boolean {
  const [type, ...fields] = fieldsOf(proof.key) ?? [];
  const scheme = schemes.get(type?.toString('latin1') ?? '');
  try {
    return scheme?.(fields, proof) ?? false;
  } catch {
    // Node cannot make a key of it, or reads no signature.
    return false;
  }
}

function isRsaHash(hash: string | undefined): hash is string {
  return hash !== undefined && rsaHashes.includes(hash);
}

function checkRsa([exponent, modulus]: WireFields, { hash, signed, signature }: Proof): boolean {
  return isRsaHash(hash) && verify(hash, signed, rsaKey(exponent, modulus), signature);
}

function checkEcdsa(hash: string): Scheme {
  return ([curve, point], { signed, signature }) =>
    verify(hash, signed, { key: curveKey(curve, point), dsaEncoding: 'der' }, signature);
}

function checkEdwardsToken([point, application]: WireFields, proof: Proof): boolean {
  const token = readToken(proof, application);
  return token !== null && verify(null, token.signed, edwardsKey(point), token.signature);
}

function checkEcdsaToken([curve, point, application]: WireFields, proof: Proof): boolean {
  const token = readToken(proof, application);
  const signature = token && plainEcdsa(token.signature);
  if (!token || !signature) return false;
  return verify(
    'sha256',
    token.signed,
    { key: curveKey(curve, point), dsaEncoding: 'ieee-p1363' },
    signature,
  );
}

/** Somebody was there and touched the token. */
const userPresent = 0x01;

/**
 * What a security key has signed: not the text itself but, for its application, a digest of it, beside what the
 * token says of the moment. Null when nobody touched it, or the parts are not there.
 */
function readToken(
  { signed, signature }: Proof,
  application: Buffer | undefined,
): { signed: Buffer; signature: Buffer } | null {
  const moment = signature.subarray(-5);
  if (application === undefined || moment.length < 5 || ((moment[0] ?? 0) & userPresent) === 0) return null;
  return {
    signed: Buffer.concat([sha256(application), moment, sha256(signed)]),
    signature: signature.subarray(0, -5),
  };
}

/** Two numbers in their wire form, as 32 bytes each. */
function plainEcdsa(wire: Buffer): Buffer | null {
  const numbers = fieldsOf(wire)?.map((number) => (number[0] === 0 ? number.subarray(1) : number));
  if (numbers?.length !== 2 || numbers.some(({ length }) => length > 32)) return null;
  return Buffer.concat(numbers.map((number) => Buffer.concat([Buffer.alloc(32 - number.length), number])));
}

function rsaKey(exponent: Buffer | undefined, modulus: Buffer | undefined): KeyObject {
  return createPublicKey({ key: { kty: 'RSA', e: base64(exponent), n: base64(modulus) }, format: 'jwk' });
}

function edwardsKey(point: Buffer | undefined): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: base64(point) }, format: 'jwk' });
}

function curveKey(curve: Buffer | undefined, point: Buffer | undefined): KeyObject {
  const crv = curves[curve?.toString('latin1') ?? ''] ?? '';
  const [x, y] = halves(point?.subarray(1) ?? Buffer.alloc(0)).map(base64);
  return createPublicKey({ key: { kty: 'EC', crv, x: x ?? '', y: y ?? '' }, format: 'jwk' });
}

function halves(bytes: Buffer): Buffer[] {
  return [bytes.subarray(0, bytes.length / 2), bytes.subarray(bytes.length / 2)];
}

function base64(bytes: Buffer | undefined): string {
  return bytes?.toString('base64url') ?? '';
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
