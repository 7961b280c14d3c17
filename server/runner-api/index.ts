import type { Endpoint } from '../http/endpoint.ts';
import * as artifacts from './artifacts.ts';
import * as builds from './builds.ts';
import * as runners from './runners.ts';
import * as trace from './trace.ts';
import * as triggers from './triggers.ts';

/** The runner's interface, below `/ci/api/v1`. */
export const runnerEndpoints: readonly Endpoint[] = [
  ...runners.endpoints,
  ...builds.endpoints,
  ...trace.endpoints,
  ...artifacts.endpoints,
  ...triggers.endpoints,
];
