import { apiEndpoints } from '../../server/api/index.ts';
import { apiPrefix, runnerPrefix } from '../../server/app.ts';
import type { Endpoint } from '../../server/http/endpoint.ts';
import { runnerEndpoints } from '../../server/runner-api/index.ts';

export interface ServedEndpoint {
  /** `GET /projects/:id`, or `POST /ci/api/v1/builds/register`. */
  name: string;
  /** Where its path starts. */
  prefix: string;
  endpoint: Endpoint;
}

/** Every declared endpoint of both interfaces, in the order of the lists. */
export function everyEndpoint(): ServedEndpoint[] {
  return [
    ...apiEndpoints.map((endpoint) => served(endpoint, '', apiPrefix)),
    ...runnerEndpoints.map((endpoint) => served(endpoint, runnerPrefix, runnerPrefix)),
  ];
}

function served(endpoint: Endpoint, shown: string, prefix: string): ServedEndpoint {
  return { name: `${endpoint.method} ${shown}${endpoint.path}`, prefix, endpoint };
}

/** The same for endpoints that differ in the names of their path parameters only. */
export function shapeOf(name: string): string {
  return name.replace(/[:*]\w+/g, ':');
}
