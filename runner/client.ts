import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { got, type OptionsInit, type Response } from 'got';
import { RegisteredRunner, type RunnerInfo } from '../shared/protocol/runner.ts';
import {
  type ClaimAnswer,
  codeOf,
  faultOf,
  faultOfError,
  parseJson,
  readClaim,
  readTraceAnswer,
  reasonOf,
} from './answers.ts';
import type { ArtifactsDownload, ArtifactsUpload, StateAnswer, TraceAnswer } from './job/build-api.ts';
import { RequestFault, type RetryOptions, withRetries } from './retry.ts';

export interface ClientOptions {
  /** Address of the server, with or without `/ci`. */
  url: string;
  info: RunnerInfo;
  /** Milliseconds between two tries to move an archive. */
  retryPause?: number;
  /** Milliseconds that moving an archive waits for a server that is away. */
  patience?: number;
}

export interface RegisterRequest {
  registrationToken: string;
  description: string;
  tags: string[];
  runUntagged: boolean;
  locked: boolean;
}

export interface ClaimRequest {
  token: string;
  executor: string;
  /** Seconds that the server may wait for a build; one that cannot wait answers at once. */
  wait: number;
  signal: AbortSignal;
}

export interface BuildReport {
  buildId: number;
  token: string;
  state: 'running' | 'success' | 'failed';
  trace?: string;
}

export interface TracePart {
  buildId: number;
  /** Of the build. */
  token: string;
  /** Bytes. */
  offset: number;
  bytes: Buffer;
}

/** Milliseconds. */
const connectLimit = 10_000;
const requestLimit = 60_000;
const claimReserve = 20_000;
/** Longest silence on a connection that moves an archive. */
const idleLimit = 120_000;
const archiveAttempts = 3;
const archivePatience = 35 * 60_000;

/** Address of the runner API below the server's address. */
export function apiUrl(url: string): string {
  const base = url.replace(/\/+$/, '').replace(/\/ci(\/api\/v1)?$/, '');
  return `${base}/ci/api/v1/`;
}

/** The calls of the runner API, one method each. */
export class RunnerClient {
  readonly #info: RunnerInfo;
  readonly #retries: Omit<RetryOptions, 'signal'>;
  readonly #http;

  constructor(options: ClientOptions) {
    this.#info = options.info;
    this.#retries = {
      attempts: archiveAttempts,
      pause: options.retryPause ?? 1000,
      patience: options.patience ?? archivePatience,
    };
    this.#http = got.extend({
      prefixUrl: apiUrl(options.url),
      throwHttpErrors: false,
      followRedirect: false,
      // Only this file and `retry.ts` decide what is asked again.
      retry: { limit: 0 },
      timeout: { lookup: connectLimit, connect: connectLimit, secureConnect: connectLimit },
      headers: {
        'user-agent': `${options.info.name}/${options.info.version} (${options.info.platform}/${options.info.architecture})`,
        accept: 'application/json',
      },
    });
  }

  /** @throws RequestFault when the server refuses. */
  async registerRunner(request: RegisterRequest): Promise<RegisteredRunner> {
    const response = await this.#json('post', 'runners/register', {
      token: request.registrationToken,
      description: request.description,
      tag_list: request.tags.join(','),
      run_untagged: request.runUntagged,
      locked: request.locked,
      info: this.#info,
    });
    const parsed = RegisteredRunner.safeParse(parseJson(response.body));
    if (response.statusCode === 201 && parsed.success) return parsed.data;
    throw faultOf(response);
  }

  /**
   * Asks for the state of a build that cannot exist: only the token is looked at.
   *
   * @throws RequestFault when the answer tells neither.
   */
  async verifyRunner(token: string): Promise<'alive' | 'removed'> {
    const response = await this.#json('put', 'builds/-1', { token });
    if (response.statusCode === 404 || response.statusCode === 200) return 'alive';
    if (response.statusCode === 403) return 'removed';
    throw faultOf(response);
  }

  /**
   * @returns `unknown` when the server had no such runner.
   * @throws RequestFault for any other refusal.
   */
  async unregisterRunner(token: string): Promise<'removed' | 'unknown'> {
    const response = await this.#json('delete', 'runners/delete', { token });
    if (response.statusCode === 200 || response.statusCode === 204) return 'removed';
    if (response.statusCode === 403) return 'unknown';
    throw faultOf(response);
  }

  async claimBuild(request: ClaimRequest): Promise<ClaimAnswer> {
    const { token, executor, wait, signal } = request;
    try {
      const response = await this.#json(
        'post',
        'builds/register',
        { token, info: { ...this.#info, executor } },
        {
          headers: { prefer: `wait=${wait}` },
          timeout: { response: wait * 1000 + claimReserve, connect: connectLimit },
          signal,
        },
      );
      return readClaim(response);
    } catch (error) {
      signal.throwIfAborted();
      return { kind: 'unavailable', reason: reasonOf(error) };
    }
  }

  async updateBuild({ buildId, token, state, trace }: BuildReport): Promise<StateAnswer> {
    try {
      const body = { token, state, info: this.#info, ...(trace === undefined ? {} : { trace }) };
      const response = await this.#json('put', `builds/${buildId}`, body);
      if (response.statusCode === 200) return { kind: 'done' };
      if (response.statusCode === 403 || response.statusCode === 404) return { kind: 'gone' };
      return { kind: 'unavailable', reason: faultOf(response).message };
    } catch (error) {
      return { kind: 'unavailable', reason: reasonOf(error) };
    }
  }

  async appendTrace({ buildId, token, offset, bytes }: TracePart): Promise<TraceAnswer> {
    try {
      const response = await this.#http.patch(`builds/${buildId}/trace.txt`, {
        headers: {
          'build-token': token,
          'content-range': `${offset}-${offset + bytes.length}`,
          'content-type': 'text/plain',
        },
        body: bytes,
        timeout: { request: requestLimit },
      });
      return readTraceAnswer(response);
    } catch (error) {
      return { kind: 'unavailable', reason: reasonOf(error) };
    }
  }

  /** @throws RequestFault. */
  async uploadArtifacts(upload: ArtifactsUpload & { buildId: number; token: string }): Promise<void> {
    const { signal } = upload;
    await withRetries({ ...this.#retries, signal }, async () => {
      const response = await this.#sendArchive(upload);
      if (response.statusCode !== 201) throw faultOf(response);
    });
  }

  /** Sent in chunks, since nobody knows the length of an archive that is being made. */
  async #sendArchive(
    upload: ArtifactsUpload & { buildId: number; token: string },
  ): Promise<Response<string>> {
    const boundary = `hearth-${randomUUID()}`;
    const content = upload.content();
    const body = Readable.from(multipart({ boundary, filename: upload.filename, content }));
    let status: number | null = null;
    try {
      const request = this.#http.post(`builds/${upload.buildId}/artifacts`, {
        searchParams: upload.expireIn === undefined ? {} : { expire_in: upload.expireIn },
        headers: {
          'build-token': upload.token,
          'content-type': `multipart/form-data; boundary=${boundary}`,
        },
        body,
        timeout: { socket: idleLimit },
        signal: upload.signal,
      });
      // A server that refuses early may close while we still send: its answer counts, not the broken pipe.
      request.on('response', (response: Response) => {
        status = response.statusCode;
      });
      return await request;
    } catch (error) {
      upload.signal.throwIfAborted();
      const answer = status === null ? '' : `the server answered ${status}; `;
      throw new RequestFault(`${answer}${reasonOf(error)}`, { status, code: codeOf(error) });
    } finally {
      content.destroy();
    }
  }

  /** @throws RequestFault. */
  async downloadArtifacts({ buildId, token, file, signal }: ArtifactsDownload): Promise<void> {
    await withRetries({ ...this.#retries, signal }, async () => {
      try {
        const stream = this.#http.stream(`builds/${buildId}/artifacts`, {
          headers: { 'build-token': token, accept: '*/*' },
          timeout: { socket: idleLimit },
          throwHttpErrors: true,
          signal,
        });
        await pipeline(stream, createWriteStream(file, { mode: 0o600 }), { signal });
      } catch (error) {
        throw faultOfError(error);
      }
    });
  }

  async #json(
    method: 'post' | 'put' | 'delete',
    path: string,
    body: object,
    options: Pick<OptionsInit, 'headers' | 'timeout' | 'signal'> = {},
  ): Promise<Response<string>> {
    try {
      return await this.#http[method](path, { timeout: { request: requestLimit }, ...options, json: body });
    } catch (error) {
      throw faultOfError(error);
    }
  }
}

async function* multipart(part: {
  boundary: string;
  filename: string;
  content: Readable;
}): AsyncGenerator<Buffer> {
  const filename = part.filename.replace(/["\r\n\\]/g, '_');
  yield Buffer.from(
    `--${part.boundary}\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n',
  );
  for await (const chunk of part.content) yield chunk as Buffer;
  yield Buffer.from(`\r\n--${part.boundary}--\r\n`);
}
