import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create table "notes" (
    "id" serial primary key,
    "project_id" int not null,
    "author_id" int not null,
    "noteable_type" text check ("noteable_type" in ('Commit', 'Issue', 'MergeRequest', 'Snippet')) not null,
    "noteable_id" int null,
    "commit_sha" varchar(40) null,
    "body" text not null,
    "system" boolean not null default false,
    "is_award" boolean not null default false,
    "path" text null,
    "line" int null,
    "line_type" text check ("line_type" in ('new', 'old')) null,
    "line_code" varchar(255) null,
    "updated_by_id" int null,
    "created_at" timestamptz(3) not null default now(),
    "updated_at" timestamptz(3) not null default now()
  )`,
  `create index "notes_author_id_index" on "notes" ("author_id")`,
  `create index "notes_project_id_commit_sha_id_index" on "notes" ("project_id", "commit_sha", "id")`,
  `create index "notes_noteable_index" on "notes" ("noteable_type", "noteable_id", "id") where "noteable_id" is not null`,
  `alter table "notes" add constraint "notes_parent_check" check (num_nonnulls(noteable_id, commit_sha) = 1)`,
  `alter table "notes" add constraint "notes_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update cascade on delete cascade`,
  `alter table "notes" add constraint "notes_author_id_foreign" foreign key ("author_id") references "users" ("id") on update cascade on delete cascade`,
  `alter table "events" add column "note_id" int null`,
  `create index "events_note_id_index" on "events" ("note_id") where "note_id" is not null`,
  `alter table "events" add constraint "events_note_id_foreign" foreign key ("note_id") references "notes" ("id") on update cascade on delete cascade`,
];

/** What people say of commits, and of issues, merge requests and snippets. */
export class Notes extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
