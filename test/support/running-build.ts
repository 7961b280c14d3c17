import { rootToken, type TestApp } from './app.ts';
import type { MadeBuild, MadeProject, MadeRunner } from './make.ts';
import { type RawAnswer, rawHttp } from './raw-http.ts';

/** A build at work, and the calls that its runner and its readers make. */
export interface RunningBuild {
  project: MadeProject;
  runner: MadeRunner;
  build: MadeBuild;
  /** Sends a part of the trace. */
  patch(start: number, body: string | Buffer, headers?: Record<string, string>): Promise<RawAnswer>;
  /** Reports as the runner. */
  put(json: { state?: string; trace?: string }): Promise<RawAnswer>;
  /** Reads the trace as a user, with a `Range` header when it is given. */
  read(range?: string): Promise<RawAnswer>;
  act(action: 'cancel' | 'erase' | 'retry'): Promise<RawAnswer<{ id: number; status: string }>>;
  /** Sends the chunks of a body to the artifacts. */
  upload(body: string | Buffer | AsyncIterable<Buffer>, options?: UploadOptions): Promise<RawAnswer>;
}

export interface UploadOptions {
  headers?: Record<string, string>;
  /** With the question mark. */
  query?: string;
}

export async function runningBuild(app: TestApp): Promise<RunningBuild> {
  const project = await app.make.project();
  const runner = await app.make.runner({ projects: [project] });
  return callsOf(app, {
    project,
    runner,
    build: await app.make.build(project, { status: 'running', runner }),
  });
}

/** The same calls for a build that is there already. */
export function callsOf(
  app: TestApp,
  parts: { project: MadeProject; runner: MadeRunner; build: MadeBuild },
): RunningBuild {
  const { project, runner, build } = parts;
  const asRunner = `${app.url}/ci/api/v1/builds/${build.id}`;
  const asUser = `${app.url}/api/v3/projects/${project.id}/builds/${build.id}`;
  const user = { 'PRIVATE-TOKEN': rootToken };
  return {
    ...parts,
    patch(start, body, headers = {}) {
      const range = `${start}-${start + Buffer.byteLength(body)}`;
      const usual = { 'Build-Token': build.token, 'Content-Range': range, 'Content-Type': 'text/plain' };
      return rawHttp(`${asRunner}/trace.txt`, 'PATCH', { headers: { ...usual, ...headers }, body });
    },
    put: (json) => rawHttp(asRunner, 'PUT', { json: { token: runner.token, ...json } }),
    read(range) {
      const headers: Record<string, string> = range === undefined ? user : { ...user, Range: range };
      return rawHttp(`${asUser}/trace`, 'GET', { headers });
    },
    act: (action) => rawHttp(`${asUser}/${action}`, 'POST', { headers: user }),
    upload(body, { headers = {}, query = '' } = {}) {
      const usual = {
        'Build-Token': build.token,
        'Content-Type': 'multipart/form-data; boundary=form-boundary-1',
      };
      return rawHttp(`${asRunner}/artifacts${query}`, 'POST', { headers: { ...usual, ...headers }, body });
    },
  };
}
