import { Migration } from '@mikro-orm/migrations';

const statements = [
  `drop index "merge_requests_source_project_id_index"`,
  `create index "merge_requests_source_project_id_index" on "merge_requests" ("source_project_id")`,
];

/** The removal of a project's row looks for all merge requests from it, whatever they go to. */
export class IndexOfSourceProjects extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
