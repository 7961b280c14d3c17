import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create table "uploads" (
    "id" serial primary key,
    "project_id" int not null,
    "uploader_id" int null,
    "secret" varchar(32) not null,
    "filename" varchar(255) not null,
    "size" int not null,
    "blob_key" varchar(255) not null,
    "created_at" timestamptz(3) not null default now()
  )`,
  `create index "uploads_project_id_index" on "uploads" ("project_id")`,
  `create index "uploads_uploader_id_index" on "uploads" ("uploader_id")`,
  `alter table "uploads" add constraint "uploads_secret_key" unique ("secret")`,
  `alter table "uploads" add constraint "uploads_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update cascade on delete cascade`,
  `alter table "uploads" add constraint "uploads_uploader_id_foreign" foreign key ("uploader_id") references "users" ("id") on update cascade on delete set null`,
  `create table "broadcast_messages" (
    "id" serial primary key,
    "message" text not null,
    "starts_at" timestamptz(3) not null,
    "ends_at" timestamptz(3) not null,
    "color" varchar(7) null,
    "font" varchar(7) null,
    "created_at" timestamptz(3) not null default now(),
    "updated_at" timestamptz(3) not null default now()
  )`,
  `alter table "users"
    add column "notification_level" smallint not null default 1,
    add column "notification_email" varchar(255) null`,
  `create table "notification_settings" (
    "id" serial primary key,
    "user_id" int not null,
    "project_id" int null,
    "group_id" int null,
    "level" smallint not null,
    "created_at" timestamptz(3) not null default now()
  )`,
  `create index "notification_settings_project_id_index" on "notification_settings" ("project_id")`,
  `create index "notification_settings_group_id_index" on "notification_settings" ("group_id")`,
  `alter table "notification_settings" add constraint "notification_settings_user_id_project_id_key" unique ("user_id", "project_id")`,
  `alter table "notification_settings" add constraint "notification_settings_user_id_group_id_key" unique ("user_id", "group_id")`,
  `alter table "notification_settings" add constraint "notification_settings_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade`,
  `alter table "notification_settings" add constraint "notification_settings_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update cascade on delete cascade`,
  `alter table "notification_settings" add constraint "notification_settings_group_id_foreign" foreign key ("group_id") references "namespaces" ("id") on update cascade on delete cascade`,
];

/** Uploaded files, messages to everybody, and how much mail each user wants. */
export class UploadsAndMessages extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
