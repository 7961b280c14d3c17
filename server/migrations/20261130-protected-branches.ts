import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create table "protected_branches" (
    "id" serial primary key,
    "project_id" int not null,
    "name" varchar(255) not null,
    "developers_can_push" boolean not null default false,
    "developers_can_merge" boolean not null default false,
    "created_at" timestamptz(3) not null default now(),
    "updated_at" timestamptz(3) not null default now()
  )`,
  `alter table "protected_branches" add constraint "protected_branches_project_id_name_key" unique ("project_id", "name")`,
  `alter table "protected_branches" add constraint "protected_branches_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update cascade on delete cascade`,
  `create table "releases" (
    "id" serial primary key,
    "project_id" int not null,
    "tag" varchar(255) not null,
    "description" text not null,
    "created_at" timestamptz(3) not null default now(),
    "updated_at" timestamptz(3) not null default now()
  )`,
  `alter table "releases" add constraint "releases_project_id_tag_key" unique ("project_id", "tag")`,
  `alter table "releases" add constraint "releases_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update cascade on delete cascade`,
];

/** Branches that only some may move, and what is said of tags. */
export class ProtectedBranches extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
