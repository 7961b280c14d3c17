import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create table "external_statuses" (
    "id" int not null,
    "pipeline_id" int not null,
    "user_id" int null,
    "name" varchar(255) not null,
    "ref" varchar(1024) null,
    "status" text check ("status" in ('pending', 'running', 'failed', 'success', 'canceled')) not null,
    "target_url" text null,
    "description" text null,
    "latest" boolean not null default true,
    "created_at" timestamptz(3) not null default now(),
    "started_at" timestamptz(3) null,
    "finished_at" timestamptz(3) null,
    constraint "external_statuses_pkey" primary key ("id")
  )`,
  `create index "external_statuses_pipeline_id_index" on "external_statuses" ("pipeline_id")`,
  `create unique index "external_statuses_latest_key" on "external_statuses" ("pipeline_id", "name") where "latest"`,
  `alter table "external_statuses" add constraint "external_statuses_pipeline_id_foreign" foreign key ("pipeline_id") references "pipelines" ("id") on update cascade on delete cascade`,
  `alter table "external_statuses" add constraint "external_statuses_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete set null`,
  `alter table "pipelines" drop constraint "pipelines_source_check"`,
  `alter table "pipelines" add constraint "pipelines_source_check" check ("source" in ('push', 'trigger', 'api', 'external'))`,
  `alter table "pipelines" add column "iid" int null`,
  `alter table "pipelines" add column "yaml_warnings" text null`,
  `create index "pipelines_project_id_id_index" on "pipelines" ("project_id", "id")`,
  `create index "pipelines_project_id_ref_id_index" on "pipelines" ("project_id", "ref", "id")`,
  `create unique index "pipelines_external_key" on "pipelines" ("project_id", "sha", "ref") where "source" = 'external'`,
  `alter table "projects" add column "last_pipeline_iid" int not null default 0`,
  `update "pipelines" p set "iid" = n.iid from (
     select "id", row_number() over (partition by "project_id" order by "id") as iid from "pipelines") n
   where n."id" = p."id"`,
  `update "projects" p set "last_pipeline_iid" = n.iid from (
     select "project_id", count(*) as iid from "pipelines" group by "project_id") n where n."project_id" = p."id"`,
  `alter table "pipeline_jobs" add column "planned_build_id" int null`,
];

/** What outside services say of commits, numbers of pipelines within their project, and jobs to be started by hand. */
export class ExternalStatuses extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
