import { Migration } from '@mikro-orm/migrations';

// Read from the repositories, which a migration does not: of a project that is there it is found with the next push to
// its default branch.
const statements = [`alter table "projects" add column "logo" text null`];

/** The picture that a project is shown with when its files have one. */
export class ProjectLogos extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
