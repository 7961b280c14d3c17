import type { BuildPayload } from '../../shared/protocol/build.ts';
import type { TestApp } from './app.ts';
import type { MadeRunner } from './make.ts';

type Outcome = 'success' | 'failed';

/** A runner that runs nothing: it claims builds over HTTP and reports what a test tells it to. */
export class PlayedRunner {
  readonly #app: TestApp;
  readonly #runner: MadeRunner;

  constructor(app: TestApp, runner: MadeRunner) {
    this.#app = app;
    this.#runner = runner;
  }

  /** Null: there is nothing to do. */
  async claim(): Promise<BuildPayload | null> {
    const answer = await this.#app.call<BuildPayload>('POST', '/ci/api/v1/builds/register', {
      json: { token: this.#runner.token },
    });
    if (answer.status === 404) return null;
    if (answer.status !== 201) throw new Error(`claim: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** As `claim`, where there has to be something. */
  async mustClaim(): Promise<BuildPayload> {
    const build = await this.claim();
    if (!build) throw new Error('there is no build to claim');
    return build;
  }

  /** @returns the status of the answer. */
  async report(build: { id: number }, state: Outcome | 'running' | 'canceled'): Promise<number> {
    const form = { token: this.#runner.token, state };
    return (await this.#app.call('PUT', `/ci/api/v1/builds/${build.id}`, { form })).status;
  }

  /**
   * Takes builds one after the other until there are none, and ends them as told; jobs that are not named succeed.
   *
   * @returns their names in the order in which they were taken.
   */
  async play(outcomes: Record<string, Outcome> = {}): Promise<string[]> {
    const names: string[] = [];
    for (let build = await this.claim(); build; build = await this.claim()) {
      names.push(build.name);
      const status = await this.report(build, outcomes[build.name] ?? 'success');
      if (status !== 200) throw new Error(`report of ${build.name}: ${status}`);
    }
    return names;
  }
}
