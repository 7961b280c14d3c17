import type { StubbornClient } from './stubborn-client.ts';

export interface PlayedBuild {
  id: number;
  token: string;
  name: string;
}

/** The bytes that a played build writes, in parts. */
export function partsOf({ id, name }: { id: number; name: string }): Buffer[] {
  return Array.from({ length: 12 }, (_, part) => Buffer.from(`${name} ${id}, part ${part}: ö€\n`.repeat(20)));
}

/**
 * A runner that plays its builds, and does not mind a server that is away: each request is repeated, and a part
 * of the trace begins where the server says.
 */
export class SteadyRunner {
  /** Ids of the builds that it was given, in order. */
  readonly claimed: number[] = [];
  readonly #client: StubbornClient;
  readonly #token: string;

  constructor(client: StubbornClient, token: string) {
    this.#client = client;
    this.#token = token;
  }

  /** Takes builds and plays them to their end, until `isOver`. */
  async work(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const build = await this.#claim();
      if (build) await this.#play(build);
    }
  }

  async #claim(): Promise<PlayedBuild | null> {
    const answer = await this.#client.send([201, 404], '/ci/api/v1/builds/register', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Prefer: 'wait=2' },
      body: JSON.stringify({ token: this.#token }),
    });
    if (answer.status !== 201) return null;
    const build = JSON.parse(answer.body) as PlayedBuild;
    this.claimed.push(build.id);
    return build;
  }

  async #play(build: PlayedBuild): Promise<void> {
    const trace = Buffer.concat(partsOf(build));
    const size = Math.ceil(trace.length / partsOf(build).length);
    for (let start = 0; start < trace.length; ) {
      start = await this.#append(build, start, trace.subarray(start, start + size));
    }
    await this.#client.send([200], `/ci/api/v1/builds/${build.id}`, {
      method: 'PUT',
      body: new URLSearchParams({ token: this.#token, state: 'success' }),
    });
  }

  /** @returns where the next part starts. */
  async #append({ id, token }: PlayedBuild, start: number, bytes: Buffer): Promise<number> {
    const answer = await this.#client.send([202, 416], `/ci/api/v1/builds/${id}/trace.txt`, {
      method: 'PATCH',
      headers: {
        'Build-Token': token,
        'Content-Range': `${start}-${start + bytes.length}`,
        'Content-Type': 'text/plain',
      },
      body: new Uint8Array(bytes),
    });
    // The answer that got lost had been a yes.
    return Number(answer.headers.get('range')?.split('-')[1] ?? start + bytes.length);
  }
}
