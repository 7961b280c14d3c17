import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create table "oauth_applications" (
    "id" serial primary key,
    "name" varchar(255) not null,
    "uid" varchar(64) not null,
    "secret_digest" bytea not null,
    "confidential" boolean not null default true,
    "redirect_uris" text[] not null,
    "owner_id" int null,
    "created_at" timestamptz(3) not null default now(),
    "updated_at" timestamptz(3) not null default now()
  )`,
  `alter table "oauth_applications" add constraint "oauth_applications_uid_key" unique ("uid")`,
  `create index "oauth_applications_owner_id_index" on "oauth_applications" ("owner_id")`,
  `alter table "oauth_applications" add constraint "oauth_applications_owner_id_foreign" foreign key ("owner_id") references "users" ("id") on update cascade on delete cascade`,
  `create table "oauth_codes" (
    "id" serial primary key,
    "code_digest" bytea not null,
    "application_id" int not null,
    "user_id" int not null,
    "redirect_uri" text not null,
    "code_challenge" varchar(64) null,
    "family" uuid not null default gen_random_uuid(),
    "created_at" timestamptz(3) not null default now(),
    "expires_at" timestamptz(3) not null,
    "used_at" timestamptz(3) null
  )`,
  `alter table "oauth_codes" add constraint "oauth_codes_code_digest_key" unique ("code_digest")`,
  `create index "oauth_codes_application_id_index" on "oauth_codes" ("application_id")`,
  `create index "oauth_codes_user_id_index" on "oauth_codes" ("user_id")`,
  `alter table "oauth_codes" add constraint "oauth_codes_application_id_foreign" foreign key ("application_id") references "oauth_applications" ("id") on update cascade on delete cascade`,
  `alter table "oauth_codes" add constraint "oauth_codes_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade`,
  `create table "oauth_tokens" (
    "id" serial primary key,
    "access_digest" bytea not null,
    "refresh_digest" bytea null,
    "application_id" int null,
    "user_id" int null,
    "family" uuid not null,
    "created_at" timestamptz(3) not null default now(),
    "expires_at" timestamptz(3) not null,
    "refresh_expires_at" timestamptz(3) null,
    "refreshed_at" timestamptz(3) null,
    "revoked_at" timestamptz(3) null
  )`,
  `alter table "oauth_tokens" add constraint "oauth_tokens_access_digest_key" unique ("access_digest")`,
  `alter table "oauth_tokens" add constraint "oauth_tokens_refresh_digest_key" unique ("refresh_digest")`,
  `create index "oauth_tokens_application_id_index" on "oauth_tokens" ("application_id")`,
  `create index "oauth_tokens_user_id_index" on "oauth_tokens" ("user_id")`,
  `create index "oauth_tokens_family_index" on "oauth_tokens" ("family")`,
  `alter table "oauth_tokens" add constraint "oauth_tokens_application_id_foreign" foreign key ("application_id") references "oauth_applications" ("id") on update cascade on delete cascade`,
  `alter table "oauth_tokens" add constraint "oauth_tokens_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade`,
  `create table "web_sessions" (
    "id" serial primary key,
    "digest" bytea not null,
    "user_id" int not null,
    "created_at" timestamptz(3) not null default now()
  )`,
  `alter table "web_sessions" add constraint "web_sessions_digest_key" unique ("digest")`,
  `create index "web_sessions_user_id_index" on "web_sessions" ("user_id")`,
  `alter table "web_sessions" add constraint "web_sessions_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade`,
  `create table "throttles" (
    "key" varchar(255) not null,
    "count" int not null,
    "expires_at" timestamptz(3) not null,
    constraint "throttles_pkey" primary key ("key")
  )`,
];

/** Programs that act for users, browsers that users signed in with, and how often somebody tried. */
export class OauthAndSessions extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
