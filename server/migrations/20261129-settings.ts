import { Migration } from '@mikro-orm/migrations';

const statements = [
  `alter table "settings"
    add column "signup_enabled" boolean not null default true,
    add column "signin_enabled" boolean not null default true,
    add column "avatar_service_enabled" boolean not null default true,
    add column "sign_in_text" text null,
    add column "home_page_url" varchar(255) null,
    add column "after_sign_out_path" varchar(255) null,
    add column "default_branch_protection" smallint not null default 1,
    add column "max_attachment_size" int not null default 10,
    add column "session_expire_delay" int not null default 10080,
    add column "default_snippet_visibility" smallint not null default 0,
    add column "default_group_visibility" smallint not null default 20,
    add column "restricted_signup_domains" text[] not null default '{}',
    add column "user_oauth_applications" boolean not null default true,
    add column "shared_runners_enabled" boolean not null default true,
    add column "send_user_confirmation_email" boolean not null default false,
    add column "local_requests_allowed" boolean not null default false`,
];

/** All settings of the interface, and who may be called by hooks and imports. */
export class AllSettings extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
