import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create table "former_values" (
    "id" serial primary key,
    "project_id" int not null,
    "value_sealed" bytea not null,
    "began_at" timestamptz(3) not null,
    "ended_at" timestamptz(3) not null default now()
  )`,
  `create index "former_values_project_id_ended_at_index" on "former_values" ("project_id", "ended_at")`,
  `alter table "former_values" add constraint "former_values_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update cascade on delete cascade`,
];

/** What secret variables were, for the traces of builds that had them. */
export class FormerValues extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
