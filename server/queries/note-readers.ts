import { memberTables } from './project-row.ts';
import { seesSnippet, userCan } from './user-can.ts';

const issue = 'exists (select from issues t where t.id = c.reference_id and t.deleted_at is null)';
const mergeRequest =
  'exists (select from merge_requests t where t.id = c.reference_id and t.deleted_at is null)';
const snippet = `exists (select from snippets sn where sn.id = c.reference_id and ${seesSnippet})`;

/**
 * Whether a user may see the note `c`, of whose thing he may know: all may but where it tells of another thing, which may be
 * in another project, and which he may not see, or which is gone.
 *
 * @param user parameter that holds his id.
 */
export function seesNote(user: string): string {
  return `(c.reference_type is null or exists (
    select from users u cross join projects p join namespaces n on n.id = p.namespace_id ${memberTables('u.id')}
    where u.id = ${user} and p.id = c.reference_project_id and not p.pending_delete and case c.reference_type
      when 'Issue' then ${issue} and ${userCan('read_issue')}
      when 'MergeRequest' then ${mergeRequest} and ${userCan('read_merge_request')}
      when 'Snippet' then ${snippet} and ${userCan('read_snippet')}
      else ${userCan('read_code')} end))`;
}
