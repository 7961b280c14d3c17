import { Migration } from '@mikro-orm/migrations';

const tables = [
  `create table "snippets" (
    "id" serial primary key,
    "project_id" int null,
    "author_id" int not null,
    "title" varchar(255) not null,
    "file_name" varchar(255) not null,
    "content" text not null,
    "visibility_level" smallint not null default 0,
    "created_at" timestamptz(3) not null default now(),
    "updated_at" timestamptz(3) not null default now()
  )`,
  `create index "snippets_project_id_index" on "snippets" ("project_id")`,
  `create index "snippets_author_id_index" on "snippets" ("author_id")`,
  `create table "milestones" (
    "id" serial primary key,
    "project_id" int not null,
    "iid" int not null,
    "title" varchar(255) not null,
    "description" text null,
    "due_date" date null,
    "state" text check ("state" in ('active', 'closed')) not null default 'active',
    "created_at" timestamptz(3) not null default now(),
    "updated_at" timestamptz(3) not null default now()
  )`,
  `alter table "milestones" add constraint "milestones_project_id_iid_key" unique ("project_id", "iid")`,
  `alter table "milestones" add constraint "milestones_project_id_title_key" unique ("project_id", "title")`,
  `create table "labels" (
    "id" serial primary key,
    "project_id" int not null,
    "title" varchar(255) not null,
    "color" varchar(7) not null,
    "description" text null,
    "created_at" timestamptz(3) not null default now(),
    "updated_at" timestamptz(3) not null default now()
  )`,
  `alter table "labels" add constraint "labels_project_id_title_key" unique ("project_id", "title")`,
  `create table "merge_requests" (
    "id" serial primary key,
    "project_id" int not null,
    "iid" int not null,
    "source_project_id" int null,
    "source_branch" varchar(1024) not null,
    "target_branch" varchar(1024) not null,
    "title" varchar(255) not null,
    "description" text null,
    "state" text check ("state" in ('opened', 'closed', 'merged', 'reopened')) not null default 'opened',
    "author_id" int not null,
    "assignee_id" int null,
    "milestone_id" int null,
    "merge_status" text check ("merge_status" in ('unchecked', 'can_be_merged', 'cannot_be_merged')) not null default 'unchecked',
    "checked_source_sha" varchar(40) null,
    "checked_target_sha" varchar(40) null,
    "head_sha" varchar(40) null,
    "base_sha" varchar(40) null,
    "merge_when_build_succeeds" boolean not null default false,
    "merge_user_id" int null,
    "merge_message" text null,
    "removes_source_branch" boolean not null default false,
    "merge_commit_sha" varchar(40) null,
    "user_notes_count" int not null default 0,
    "upvotes" int not null default 0,
    "downvotes" int not null default 0,
    "updated_by_id" int null,
    "created_at" timestamptz(3) not null default now(),
    "updated_at" timestamptz(3) not null default now(),
    "deleted_at" timestamptz(3) null
  )`,
  `create index "merge_requests_author_id_index" on "merge_requests" ("author_id")`,
  `create index "merge_requests_assignee_id_index" on "merge_requests" ("assignee_id")`,
  `create index "merge_requests_milestone_id_index" on "merge_requests" ("milestone_id")`,
  `create index "merge_requests_project_id_created_at_id_index" on "merge_requests" ("project_id", "created_at", "id") where "deleted_at" is null`,
  `create index "merge_requests_project_id_updated_at_id_index" on "merge_requests" ("project_id", "updated_at", "id") where "deleted_at" is null`,
  `create unique index "merge_requests_open_key" on "merge_requests" ("source_project_id", "source_branch", "project_id", "target_branch") where "state" in ('opened', 'reopened') and "deleted_at" is null`,
  `create index "merge_requests_open_target_index" on "merge_requests" ("project_id", "target_branch") where "state" in ('opened', 'reopened') and "deleted_at" is null`,
  `create index "merge_requests_source_project_id_index" on "merge_requests" ("source_project_id") where "source_project_id" <> "project_id"`,
  `alter table "merge_requests" add constraint "merge_requests_project_id_iid_key" unique ("project_id", "iid")`,
  `create table "merge_request_labels" (
    "merge_request_id" int not null,
    "label_id" int not null,
    constraint "merge_request_labels_pkey" primary key ("merge_request_id", "label_id")
  )`,
  `create index "merge_request_labels_label_id_index" on "merge_request_labels" ("label_id")`,
  `create table "issues" (
    "id" serial primary key,
    "project_id" int not null,
    "iid" int not null,
    "title" varchar(255) not null,
    "description" text null,
    "state" text check ("state" in ('opened', 'closed')) not null default 'opened',
    "author_id" int not null,
    "assignee_id" int null,
    "milestone_id" int null,
    "user_notes_count" int not null default 0,
    "moved_to_id" int null,
    "updated_by_id" int null,
    "created_at" timestamptz(3) not null default now(),
    "updated_at" timestamptz(3) not null default now(),
    "deleted_at" timestamptz(3) null
  )`,
  `create index "issues_author_id_created_at_id_index" on "issues" ("author_id", "created_at", "id")`,
  `create index "issues_assignee_id_index" on "issues" ("assignee_id")`,
  `create index "issues_milestone_id_index" on "issues" ("milestone_id")`,
  `create index "issues_project_id_created_at_id_index" on "issues" ("project_id", "created_at", "id") where "deleted_at" is null`,
  `create index "issues_project_id_updated_at_id_index" on "issues" ("project_id", "updated_at", "id") where "deleted_at" is null`,
  `alter table "issues" add constraint "issues_project_id_iid_key" unique ("project_id", "iid")`,
  `create table "subscriptions" (
    "id" serial primary key,
    "user_id" int not null,
    "issue_id" int null,
    "merge_request_id" int null,
    "label_id" int null,
    "subscribed" boolean not null,
    "created_at" timestamptz(3) not null default now(),
    constraint subscriptions_thing_check check (num_nonnulls(issue_id, merge_request_id, label_id) = 1)
  )`,
  `create index "subscriptions_issue_id_index" on "subscriptions" ("issue_id")`,
  `create index "subscriptions_merge_request_id_index" on "subscriptions" ("merge_request_id")`,
  `create index "subscriptions_label_id_index" on "subscriptions" ("label_id")`,
  `alter table "subscriptions" add constraint "subscriptions_user_id_issue_id_key" unique ("user_id", "issue_id")`,
  `alter table "subscriptions" add constraint "subscriptions_user_id_merge_request_id_key" unique ("user_id", "merge_request_id")`,
  `alter table "subscriptions" add constraint "subscriptions_user_id_label_id_key" unique ("user_id", "label_id")`,
  `create table "mentions" (
    "id" serial primary key,
    "user_id" int not null,
    "issue_id" int null,
    "merge_request_id" int null,
    "note_id" int null
  )`,
  `create index "mentions_user_id_index" on "mentions" ("user_id")`,
  `create index "mentions_issue_id_index" on "mentions" ("issue_id")`,
  `create index "mentions_merge_request_id_index" on "mentions" ("merge_request_id")`,
  `create index "mentions_note_id_index" on "mentions" ("note_id")`,
  `create table "issue_labels" (
    "issue_id" int not null,
    "label_id" int not null,
    constraint "issue_labels_pkey" primary key ("issue_id", "label_id")
  )`,
  `create index "issue_labels_label_id_index" on "issue_labels" ("label_id")`,
  `alter table "snippets" add constraint "snippets_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update cascade on delete cascade`,
  `alter table "snippets" add constraint "snippets_author_id_foreign" foreign key ("author_id") references "users" ("id") on update cascade on delete cascade`,
  `alter table "milestones" add constraint "milestones_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update cascade on delete cascade`,
  `alter table "labels" add constraint "labels_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update cascade on delete cascade`,
  `alter table "merge_requests" add constraint "merge_requests_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update cascade on delete cascade`,
  `alter table "merge_requests" add constraint "merge_requests_source_project_id_foreign" foreign key ("source_project_id") references "projects" ("id") on update cascade on delete set null`,
  `alter table "merge_requests" add constraint "merge_requests_author_id_foreign" foreign key ("author_id") references "users" ("id") on update cascade on delete cascade`,
  `alter table "merge_requests" add constraint "merge_requests_assignee_id_foreign" foreign key ("assignee_id") references "users" ("id") on update cascade on delete set null`,
  `alter table "merge_requests" add constraint "merge_requests_milestone_id_foreign" foreign key ("milestone_id") references "milestones" ("id") on update cascade on delete set null`,
  `alter table "merge_request_labels" add constraint "merge_request_labels_merge_request_id_foreign" foreign key ("merge_request_id") references "merge_requests" ("id") on update cascade on delete cascade`,
  `alter table "merge_request_labels" add constraint "merge_request_labels_label_id_foreign" foreign key ("label_id") references "labels" ("id") on update cascade on delete cascade`,
  `alter table "issues" add constraint "issues_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update cascade on delete cascade`,
  `alter table "issues" add constraint "issues_author_id_foreign" foreign key ("author_id") references "users" ("id") on update cascade on delete cascade`,
  `alter table "issues" add constraint "issues_assignee_id_foreign" foreign key ("assignee_id") references "users" ("id") on update cascade on delete set null`,
  `alter table "issues" add constraint "issues_milestone_id_foreign" foreign key ("milestone_id") references "milestones" ("id") on update cascade on delete set null`,
  `alter table "subscriptions" add constraint "subscriptions_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade`,
  `alter table "subscriptions" add constraint "subscriptions_issue_id_foreign" foreign key ("issue_id") references "issues" ("id") on update cascade on delete cascade`,
  `alter table "subscriptions" add constraint "subscriptions_merge_request_id_foreign" foreign key ("merge_request_id") references "merge_requests" ("id") on update cascade on delete cascade`,
  `alter table "subscriptions" add constraint "subscriptions_label_id_foreign" foreign key ("label_id") references "labels" ("id") on update cascade on delete cascade`,
  `alter table "mentions" add constraint "mentions_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade`,
  `alter table "mentions" add constraint "mentions_issue_id_foreign" foreign key ("issue_id") references "issues" ("id") on update cascade on delete cascade`,
  `alter table "mentions" add constraint "mentions_merge_request_id_foreign" foreign key ("merge_request_id") references "merge_requests" ("id") on update cascade on delete cascade`,
  `alter table "mentions" add constraint "mentions_note_id_foreign" foreign key ("note_id") references "notes" ("id") on update cascade on delete cascade`,
  `alter table "issue_labels" add constraint "issue_labels_issue_id_foreign" foreign key ("issue_id") references "issues" ("id") on update cascade on delete cascade`,
  `alter table "issue_labels" add constraint "issue_labels_label_id_foreign" foreign key ("label_id") references "labels" ("id") on update cascade on delete cascade`,
  `alter table "projects" add column "last_issue_iid" int not null default 0, add column "last_merge_request_iid" int not null default 0, add column "last_milestone_iid" int not null default 0`,
  `create index "notes_noteable_author_index" on "notes" ("noteable_id", "noteable_type", "author_id") where "noteable_id" is not null and not "system"`,
];

/** How many open issues each project has, whatever changed that. */
const counting = [
  `create function "count_open_issues"() returns trigger language plpgsql as $$
  declare
    before int := case when tg_op <> 'INSERT' and old.state = 'opened' and old.deleted_at is null then 1 else 0 end;
    after int := case when tg_op <> 'DELETE' and new.state = 'opened' and new.deleted_at is null then 1 else 0 end;
  begin
    if before <> after then
      update projects set open_issues_count = open_issues_count + after - before
      where id = coalesce(new.project_id, old.project_id);
    end if;
    return null;
  end $$`,
  `create trigger "issues_count" after insert or delete or update of "state", "deleted_at" on "issues"
    for each row execute function "count_open_issues"()`,
];

export class IssuesAndMergeRequests extends Migration {
  override up(): void {
    for (const statement of [...tables, ...counting]) this.addSql(statement);
  }
}
