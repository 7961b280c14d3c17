import { groupColumns, isGroup } from './group-row.ts';
import type { ListQuery } from './list-query.ts';
import { partOf } from './text-search.ts';
import type { Viewer } from './viewer.ts';

export interface NamespaceRow {
  id: number;
  path: string;
  kind: 'user' | 'group';
}

type AsViewer = Pick<Viewer, 'id' | 'is_admin'>;

/** Groups that the viewer is a member of, the newest first; all for administrators. */
export function listGroups(viewer: AsViewer, search: string | undefined): ListQuery {
  const mine = 'join group_members m on m.group_id = n.id and m.user_id = $1';
  const from = viewer.is_admin ? `namespaces n where ${isGroup}` : `namespaces n ${mine} where ${isGroup}`;
  return searched({ columns: groupColumns, from }, viewer, search);
}

/** The viewer's own namespace and those of his groups, the newest first; all for administrators. */
export function listNamespaces(viewer: AsViewer, search: string | undefined): ListQuery {
  // Looked for before the order is: else all namespaces are gone through in it.
  const mine = `n.id = any(array(select id from namespaces where owner_id = $1
    union all select group_id from group_members where user_id = $1))`;
  const from = `namespaces n where not n.pending_delete${viewer.is_admin ? '' : ` and ${mine}`}`;
  return searched({ columns: 'n.id, n.path, n.kind', from }, viewer, search);
}

function searched(
  { columns, from }: Pick<ListQuery, 'columns' | 'from'>,
  viewer: AsViewer,
  search: string | undefined,
): ListQuery {
  const values: unknown[] = viewer.is_admin ? [] : [viewer.id];
  const order = 'n.id desc';
  if (search === undefined) return { columns, from, order, values };
  values.push(partOf(search));
  const place = `$${values.length}`;
  return { columns, from: `${from} and (n.name ilike ${place} or n.path ilike ${place})`, order, values };
}
