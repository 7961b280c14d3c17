import { type NoteableType, noteables } from '../queries/noteable.ts';
import { memberTables } from '../queries/project-row.ts';
import { userCan } from '../queries/user-can.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import type { Naming, ReferenceSource } from './note-references.ts';

/** An issue or merge request as a text names it. */
export interface NamedThing {
  type: NoteableType;
  /** `namespace/path` in lower case; null for a thing of the source's own project. */
  project: string | null;
  iid: number;
}

/**
 * Tells in issues and merge requests where they are named, as far as the author may read them; once for each source,
 * and nobody of himself. In one statement, which waits for nobody who is changing one of them.
 */
export async function writeCrossReferences(
  { em }: Work,
  { authorId, source }: Pick<Naming, 'authorId' | 'source'>,
  things: readonly NamedThing[],
): Promise<void> {
  if (things.length === 0) return;
  await sql(em, statements[source.type], [
    source.projectId,
    authorId,
    things.map(({ project }) => project),
    things.map(({ type }) => type),
    things.map(({ iid }) => iid),
    ...(source.type === 'Commit' ? [source.sha, source.within ?? []] : [source.id]),
  ]);
}

/**
 * The things `$3` to `$5` of one type that are there and that the author `$2` may read, but for the source, and for the
 * merge requests `$7` of a commit.
 */
function foundOf(type: NoteableType, source: ReferenceSource['type']): string {
  const ability = type === 'Issue' ? 'read_issue' : 'read_merge_request';
  const isWhole = source === 'Commit' && type === 'MergeRequest';
  const others = source === type ? 'and t.id <> $6' : isWhole ? 'and t.id <> all($7::int[])' : '';
  return `select '${type}' as type, t.id, p.id as project_id
    from given g cross join users u
      join projects p on p.id = g.project_id and not p.pending_delete
      join namespaces n on n.id = p.namespace_id ${memberTables('u.id')}
      join ${noteables[type].table} t on t.project_id = p.id and t.iid = g.iid and t.deleted_at is null
    where g.type = '${type}' and u.id = $2 and ${userCan(ability)} ${others}`;
}

/** What was written counts as a change; who is changing the thing meanwhile sees to that himself. */
function touch(type: NoteableType): string {
  const { table } = noteables[type];
  return `update ${table} set updated_at = now() where id in (
    select id from ${table} where id in (select noteable_id from written where noteable_type = '${type}')
    order by id for no key update skip locked)`;
}

interface Kind {
  /** Select of the `name` of the source `$6`. */
  name: string;
  /** What stands before the name, and before the path of the project where that is another one. */
  sign: string;
  word: string;
  id: string;
  sha: string;
}

function statementFor(type: ReferenceSource['type'], { name, sign, word, id, sha }: Kind): string {
  const local = type === 'Commit' ? '' : sign;
  return `
    with given as (
      select g.type, g.iid, case when g.path is null then $1 else (
        select p.id from projects p join namespaces n on n.id = p.namespace_id
        where lower(n.path) = split_part(g.path, '/', 1) and lower(p.path) = split_part(g.path, '/', 2)
          and not p.pending_delete) end as project_id
      from unnest($3::text[], $4::text[], $5::int[]) g (path, type, iid)
    ), source as (
      select n.path || '/' || p.path as path, (${name}) as name
      from projects p join namespaces n on n.id = p.namespace_id where p.id = $1
    ), found as (
      ${foundOf('Issue', type)} union all ${foundOf('MergeRequest', type)}
    ), written as (
      insert into notes (project_id, author_id, noteable_type, noteable_id, body, system, reference_type,
        reference_project_id, reference_id, reference_sha)
      select f.project_id, $2, f.type, f.id, 'mentioned in ${word} '
        || case when f.project_id = $1 then '${local}' else s.path || '${sign}' end || s.name,
        true, '${type}', $1, ${id}, ${sha}
      from found f cross join source s order by f.type, f.id
      on conflict do nothing returning noteable_type, noteable_id
    ), issues_touched as (${touch('Issue')})
    ${touch('MergeRequest')}`;
}

const byId = { id: '$6::int', sha: 'null' };
const statements: Record<ReferenceSource['type'], string> = {
  Issue: statementFor('Issue', {
    ...byId,
    name: 'select iid::text from issues where id = $6::int',
    sign: '#',
    word: 'issue',
  }),
  MergeRequest: statementFor('MergeRequest', {
    ...byId,
    name: 'select iid::text from merge_requests where id = $6::int',
    sign: '!',
    word: 'merge request',
  }),
  Snippet: statementFor('Snippet', { ...byId, name: '($6::int)::text', sign: '$', word: 'snippet' }),
  Commit: statementFor('Commit', {
    name: '$6::text',
    sign: '@',
    word: 'commit',
    id: 'null::int',
    sha: '$6::text',
  }),
};
