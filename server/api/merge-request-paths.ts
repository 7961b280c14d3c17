import type { Endpoint } from '../http/endpoint.ts';

/** The same endpoint of a merge request, also under the path that older clients call. */
export function onBothPaths(declared: Endpoint): Endpoint[] {
  const path = declared.path.replace('/merge_requests/', '/merge_request/');
  return [declared, { ...declared, path }];
}
