import { signedIn } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { optional, text } from '../http/params.ts';
import { NamespaceJson, presentNamespace } from '../present/namespace.ts';
import { listNamespaces, type NamespaceRow } from '../queries/groups.ts';

const list = endpoint({
  method: 'GET',
  path: '/namespaces',
  summary: "The caller's own namespace and those of his groups; all for administrators",
  access: signedIn(),
  params: { search: optional(text({ max: 255 })) },
  returns: NamespaceJson,
  list: true,
  async run({ viewer, params, page, work }) {
    const rows = await paginate<NamespaceRow>(work.em, listNamespaces(viewer, params.search), page);
    return rows.map(presentNamespace);
  },
});

export const endpoints: Endpoint[] = [list];
