import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create table "hooks" (
    "id" serial primary key,
    "project_id" int null,
    "url" varchar(2048) not null,
    "credentials_sealed" bytea null,
    "token_sealed" bytea null,
    "push_events" boolean not null default true,
    "tag_push_events" boolean not null default false,
    "issues_events" boolean not null default false,
    "merge_requests_events" boolean not null default false,
    "note_events" boolean not null default false,
    "build_events" boolean not null default false,
    "enable_ssl_verification" boolean not null default true,
    "created_at" timestamptz(3) not null default now(),
    "updated_at" timestamptz(3) not null default now()
  )`,
  `create index "hooks_project_id_index" on "hooks" ("project_id")`,
  `create index "hooks_system_index" on "hooks" ("id") where "project_id" is null`,
  `alter table "hooks" add constraint "hooks_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update cascade on delete cascade`,
  `create table "hook_deliveries" (
    "id" bigserial primary key,
    "hook_id" int not null,
    "event" varchar(32) not null,
    "body" text not null,
    "state" text check ("state" in ('waiting', 'delivered', 'failed')) not null default 'waiting',
    "attempts" smallint not null default 0,
    "response_status" smallint null,
    "response_body" text null,
    "error" varchar(255) null,
    "duration_ms" int null,
    "sent_at" timestamptz(3) null,
    "created_at" timestamptz(3) not null default now()
  )`,
  `create index "hook_deliveries_hook_id_id_index" on "hook_deliveries" ("hook_id", "id")`,
  `create index "hook_deliveries_waiting_index" on "hook_deliveries" ("hook_id") where "state" = 'waiting'`,
  `alter table "hook_deliveries" add constraint "hook_deliveries_hook_id_foreign" foreign key ("hook_id") references "hooks" ("id") on update cascade on delete cascade`,
];

/** Addresses that are told of what happens, and what was sent to them. */
export class Hooks extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
