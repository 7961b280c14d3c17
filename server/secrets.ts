import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** What is kept of a token: found by its digest, shown again by opening the seal. */
export interface StoredToken {
  digest: Buffer;
  sealed: Buffer;
}

/** SHA-256 of a token. Rows are found by it, so looking one up compares no letters of the token itself. */
export function tokenDigest(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** 20 characters of the URL-safe base64 alphabet: private tokens and registration tokens. */
export function newToken(): string {
  return randomBytes(15).toString('base64url');
}

/** 30 hexadecimal digits: tokens of runners. */
export function newRunnerToken(): string {
  return randomBytes(15).toString('hex');
}

/** 64 hexadecimal digits: access and refresh tokens of OAuth, its codes, and what programs call themselves. */
export function newAccessToken(): string {
  return randomBytes(32).toString('hex');
}

/** Whether a text has the form of an access token. */
export function isAccessToken(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/** What a form carries beside a cookie that holds `secret`: pages of others can send the one, but not know the other. */
export function formToken(secret: string): string {
  return createHmac('sha256', secret).update('form').digest('hex');
}

export function isFormToken(given: string, secret: string): boolean {
  return sameText(given, formToken(secret));
}

/** Compares without telling by its time where two texts differ. That their lengths do is told. */
function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Everything that depends on the instance's secret key (32 bytes). */
export class Secrets {
  readonly #sealKey: Buffer;
  readonly #buildTokenKey: Buffer;

  constructor(key: Buffer) {
    this.#sealKey = createHmac('sha256', key).update('seal').digest();
    this.#buildTokenKey = createHmac('sha256', key).update('build token').digest();
  }

  /** Encrypts a text so that it can be stored: AES-256-GCM as nonce, tag, ciphertext. */
  seal(text: string): Buffer {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#sealKey, nonce);
    const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), data]);
  }

  /** @throws when the key is another one than at sealing, or the bytes were changed. */
  open(sealed: Buffer): string {
    const decipher = createDecipheriv('aes-256-gcm', this.#sealKey, sealed.subarray(0, 12));
    decipher.setAuthTag(sealed.subarray(12, 28));
    return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString('utf8');
  }

  store(token: string): StoredToken {
    return { digest: tokenDigest(token), sealed: this.seal(token) };
  }

  /** The token of a build. It is computed, not stored, and carries the build's id so that it can be looked up. */
  buildToken(buildId: number): string {
    const mac = createHmac('sha256', this.#buildTokenKey).update(String(buildId)).digest('base64url');
    return `${buildId}-${mac.slice(0, 24)}`;
  }

  /** The build that a token was made for, or null when it is no token of ours. Says nothing of its validity now. */
  buildOfToken(token: string): number | null {
    const match = /^([1-9]\d{0,9})-/.exec(token);
    if (!match) return null;
    const id = Number(match[1]);
    return sameText(token, this.buildToken(id)) ? id : null;
  }
}
