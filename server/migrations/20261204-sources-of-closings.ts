import { Migration } from '@mikro-orm/migrations';

/** Of notes that say what closed an issue, when that is in another project, whose path they tell. */
const closedBy = 'Status changed to closed by';

// The notes that are there name a project by its path alone, so one that has another path by now is not found.
const statements = [
  `drop index "notes_reference_key"`,
  `drop index "notes_reference_sha_key"`,
  `create unique index "notes_reference_key" on "notes" ("noteable_id", "noteable_type", "reference_type", "reference_id") where "reference_id" is not null and "body" not like 'Status changed %'`,
  `create unique index "notes_reference_sha_key" on "notes" ("noteable_id", "noteable_type", "reference_project_id", "reference_sha") where "reference_sha" is not null and "body" not like 'Status changed %'`,
  `update notes c set reference_type = 'MergeRequest', reference_project_id = p.id, reference_id = m.id
    from merge_requests m join projects p on p.id = m.project_id join namespaces n on n.id = p.namespace_id
    where c.system and c.noteable_type = 'Issue' and c.reference_type is null
      and c.body = '${closedBy} merge request ' || n.path || '/' || p.path || '!' || m.iid`,
  `update notes c set reference_type = 'Commit', reference_project_id = p.id, reference_sha = right(c.body, 40)
    from projects p join namespaces n on n.id = p.namespace_id
    where c.system and c.noteable_type = 'Issue' and c.reference_type is null and c.body ~ '@[0-9a-f]{40}$'
      and left(c.body, -40) = '${closedBy} commit ' || n.path || '/' || p.path || '@'`,
];

/** What closed an issue from another project is told to those who may see that. */
export class SourcesOfClosings extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
