import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create unique index "pipeline_jobs_planned_build_id_key" on "pipeline_jobs" ("planned_build_id") where "planned_build_id" is not null`,
  `alter table "builds" drop constraint "builds_runner_id_foreign"`,
];

/** Finds jobs that wait to be started by hand, and lets runners go without a look at all they have ever run. */
export class ManualJobs extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
