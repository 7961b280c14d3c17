import { Migration } from '@mikro-orm/migrations';

/** Finds the merge requests that were closed with their source branch, when that is made again. */
export class RestoredSourceBranches extends Migration {
  override up(): void {
    this.addSql(
      `create index "merge_requests_closed_source_index" on "merge_requests" ("source_project_id", "source_branch") where "state" = 'closed' and "deleted_at" is null`,
    );
  }
}
