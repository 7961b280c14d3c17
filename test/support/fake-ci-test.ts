import type { ExecutionContext } from 'ava';
import { buildClient } from '../../runner/build-client.ts';
import { RunnerClient } from '../../runner/client.ts';
import type { BuildApi } from '../../runner/job/build-api.ts';
import type { TraceTiming } from '../../runner/job/trace-upload.ts';
import type { BuildPayload } from '../../shared/protocol/build.ts';
import { FakeCiServer } from './fake-ci-server.ts';

/** Short enough that tests do not wait; nothing depends on the exact values. */
export const quickTrace: TraceTiming = {
  flush: 5,
  gather: 5,
  wholeFlush: 5,
  poll: 30,
  retryFirst: 5,
  retryMax: 20,
  giveUp: 20_000,
};

export async function fakeCiServer(t: ExecutionContext): Promise<FakeCiServer> {
  const server = await new FakeCiServer().start();
  t.teardown(() => server.stop());
  return server;
}

export function fakeClient(server: FakeCiServer): RunnerClient {
  return new RunnerClient({ url: server.url, info: { name: 'test', version: '1' }, retryPause: 5 });
}

export function fakeApi(server: FakeCiServer, payload: BuildPayload): BuildApi {
  const tokens = { buildToken: payload.token, runnerToken: 'runner-token' };
  return buildClient(fakeClient(server), { buildId: payload.id, ...tokens });
}
