import { Migration } from '@mikro-orm/migrations';

const statements = [
  `alter table "projects"
    add column "import_status" text check ("import_status" in ('none', 'started', 'finished', 'failed')) not null default 'none',
    add column "import_error" varchar(1024) null`,
  `create table "project_imports" (
    "project_id" int not null,
    "user_id" int null,
    "url" text not null,
    "credentials_sealed" bytea null,
    "created_at" timestamptz(3) not null default now(),
    constraint "project_imports_pkey" primary key ("project_id")
  )`,
  `create index "project_imports_user_id_index" on "project_imports" ("user_id")`,
  `alter table "project_imports" add constraint "project_imports_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update cascade on delete cascade`,
  `alter table "project_imports" add constraint "project_imports_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete set null`,
];

/** Projects that are filled from a repository elsewhere, and how far that is. */
export class ImportsOfProjects extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
