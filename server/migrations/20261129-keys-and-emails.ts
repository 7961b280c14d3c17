import { Migration } from '@mikro-orm/migrations';

const keys = [
  `create table "keys" (
    "id" serial primary key,
    "user_id" int null,
    "title" varchar(255) not null,
    "key" text not null,
    "fingerprint" varchar(47) not null,
    "fingerprint_sha256" varchar(50) not null,
    "public" boolean not null default false,
    "created_at" timestamptz(3) not null default now(),
    "updated_at" timestamptz(3) not null default now()
  )`,
  `create index "keys_user_id_index" on "keys" ("user_id")`,
  `alter table "keys" add constraint "keys_fingerprint_sha256_key" unique ("fingerprint_sha256")`,
  `alter table "keys" add constraint "keys_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade`,
  `create table "project_deploy_keys" (
    "project_id" int not null,
    "key_id" int not null,
    "created_at" timestamptz(3) not null default now(),
    constraint "project_deploy_keys_pkey" primary key ("project_id", "key_id")
  )`,
  `create index "project_deploy_keys_key_id_index" on "project_deploy_keys" ("key_id")`,
  `alter table "project_deploy_keys" add constraint "project_deploy_keys_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update cascade on delete cascade`,
  `alter table "project_deploy_keys" add constraint "project_deploy_keys_key_id_foreign" foreign key ("key_id") references "keys" ("id") on update cascade on delete cascade`,
];

const emails = [
  `create table "emails" (
    "id" serial primary key,
    "user_id" int not null,
    "email" varchar(255) not null,
    "created_at" timestamptz(3) not null default now(),
    "updated_at" timestamptz(3) not null default now()
  )`,
  `create index "emails_user_id_index" on "emails" ("user_id")`,
  `create unique index "emails_email_key" on "emails" (lower("email"))`,
  `alter table "emails" add constraint "emails_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade`,
];

const identities = [
  `create table "identities" (
    "id" serial primary key,
    "user_id" int not null,
    "provider" varchar(255) not null,
    "extern_uid" varchar(255) not null,
    "created_at" timestamptz(3) not null default now()
  )`,
  `alter table "identities" add constraint "identities_user_id_provider_key" unique ("user_id", "provider")`,
  `alter table "identities" add constraint "identities_provider_extern_uid_key" unique ("provider", "extern_uid")`,
  `alter table "identities" add constraint "identities_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade`,
];

/** SSH keys of users and projects, further e-mail addresses, and who users are elsewhere. */
export class KeysAndEmails extends Migration {
  override up(): void {
    for (const statement of [...keys, ...emails, ...identities]) this.addSql(statement);
  }
}
