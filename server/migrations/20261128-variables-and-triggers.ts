import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create table "ci_variables" (
    "id" serial primary key,
    "project_id" int not null,
    "key" varchar(255) not null,
    "value_sealed" bytea not null,
    "created_at" timestamptz(3) not null default now(),
    "updated_at" timestamptz(3) not null default now()
  )`,
  `alter table "ci_variables" add constraint "ci_variables_project_id_key_key" unique ("project_id", "key")`,
  `alter table "ci_variables" add constraint "ci_variables_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update cascade on delete cascade`,
  `create table "triggers" (
    "id" serial primary key,
    "project_id" int not null,
    "owner_id" int null,
    "token_digest" bytea not null,
    "token_sealed" bytea not null,
    "created_at" timestamptz(3) not null default now(),
    "updated_at" timestamptz(3) not null default now(),
    "deleted_at" timestamptz(3) null,
    "last_used" timestamptz(3) null
  )`,
  `create index "triggers_project_id_index" on "triggers" ("project_id")`,
  `alter table "triggers" add constraint "triggers_token_digest_key" unique ("token_digest")`,
  `alter table "triggers" add constraint "triggers_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update cascade on delete cascade`,
  `alter table "triggers" add constraint "triggers_owner_id_foreign" foreign key ("owner_id") references "users" ("id") on update cascade on delete set null`,
  `create index "builds_artifacts_expire_at_index" on "builds" ("artifacts_expire_at") where "artifacts_key" is not null`,
  `alter table "pipelines" add column "trigger_id" int null`,
  `alter table "pipelines" add column "trigger_variables_sealed" bytea null`,
];

/** Secret variables of projects, and tokens that start pipelines. */
export class VariablesAndTriggers extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
