import { seesGroup } from '../queries/group-row.ts';
import { memberTables } from '../queries/project-row.ts';
import { participants } from '../queries/project-users.ts';
import { seesSnippet, userCan } from '../queries/user-can.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import type { Naming, ReferenceSource } from './note-references.ts';

/** Stands for everybody who takes part in the project. */
const everybody = 'all';
/** Users that one text names; those by their own names come first. */
const mostUsers = 1000;

/**
 * Makes the mentions of a source, or of a comment on it, those of the names: users, groups for their members, and `all`
 * for those who take part in the project. In one statement.
 *
 * @param names in lower case.
 */
export async function keepMentions(
  { em }: Work,
  { authorId, source, noteId }: Omit<Naming, 'texts'>,
  names: readonly string[],
): Promise<void> {
  // Where nothing is kept of the source itself, nobody takes part in it.
  const isKept = noteId !== null || source.type === 'Issue' || source.type === 'MergeRequest';
  if (!isKept) return;
  const id = source.type === 'Commit' ? null : source.id;
  const values = [source.projectId, names, names.includes(everybody), authorId, id, noteId];
  const { ofThing, ofNote } = statements[source.type];
  await sql(em, noteId === null ? ofThing : ofNote, values);
}

interface Kind {
  /** Whether the user `u` may read the thing `$5` in the project `p`. */
  reads: string;
  /** What a mention says of the thing. */
  issueId?: string;
  mergeRequestId?: string;
}

function statementsFor(kind: Kind): { ofThing: string; ofNote: string } {
  const { issueId = 'null', mergeRequestId = 'null' } = kind;
  const thing = issueId === 'null' ? `m.merge_request_id = ${mergeRequestId}` : `m.issue_id = ${issueId}`;
  return {
    ofThing: statementFor({ ...kind, issueId, mergeRequestId }, `${thing} and m.note_id is null`),
    ofNote: statementFor({ ...kind, issueId, mergeRequestId }, 'm.note_id = $6'),
  };
}

/** @param same condition of the mentions `m` that there are so far. */
function statementFor({ reads, issueId, mergeRequestId }: Required<Kind>, same: string): string {
  return `
    with named as (
      select n.owner_id as user_id, true as is_direct from namespaces n
        where lower(n.path) = any($2::text[]) and n.owner_id is not null and not n.pending_delete
      union all select gm.user_id, false from users v cross join namespaces n join group_members gm on gm.group_id = n.id
        where v.id = $4 and lower(n.path) = any($2) and n.kind = 'group' and not n.pending_delete and ${seesGroup}
      union all select user_id, false from (${participants}) e where $3
    ), readers as (
      select u.id from (select user_id, bool_or(is_direct) as is_direct from named group by user_id) d
        join users u on u.id = d.user_id and u.state = 'active'
        join projects p on p.id = $1 and not p.pending_delete join namespaces n on n.id = p.namespace_id
        ${memberTables('u.id')}
      where ${reads} order by d.is_direct desc, u.id limit ${mostUsers}
    ), gone as (
      delete from mentions m where ${same} and not exists (select from readers r where r.id = m.user_id)
    )
    insert into mentions (user_id, issue_id, merge_request_id, note_id)
    select r.id, ${issueId}, ${mergeRequestId}, $6::int from readers r
    where not exists (select from mentions m where ${same} and m.user_id = r.id) order by r.id`;
}

const statements: Record<ReferenceSource['type'], ReturnType<typeof statementsFor>> = {
  Issue: statementsFor({ reads: userCan('read_issue'), issueId: '$5::int' }),
  MergeRequest: statementsFor({ reads: userCan('read_merge_request'), mergeRequestId: '$5::int' }),
  Snippet: statementsFor({
    reads: `${userCan('read_snippet')} and exists (select from snippets sn where sn.id = $5::int and ${seesSnippet})`,
  }),
  Commit: statementsFor({ reads: `${userCan('read_code')} and $5::int is null` }),
};
