import { Migration } from '@mikro-orm/migrations';

const statements = [
  `alter table "projects"
    add column "repository_size" bigint not null default 0,
    add column "pushes_since_tidy" int not null default 0,
    add column "tidied_at" timestamptz(3) null`,
];

/** How large repositories are, and when each was last put in order. */
export class RepositoryCare extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
