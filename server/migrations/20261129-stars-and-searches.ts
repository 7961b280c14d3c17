import { Migration } from '@mikro-orm/migrations';

/** Columns that lists of projects are ordered by, beside the id. */
const orders = ['created_at', 'updated_at', 'last_activity_at', 'name', 'path'];

const stars = [
  `create table "stars" (
    "user_id" int not null,
    "project_id" int not null,
    "created_at" timestamptz(3) not null default now(),
    constraint "stars_pkey" primary key ("user_id", "project_id")
  )`,
  `create index "stars_project_id_index" on "stars" ("project_id")`,
  `alter table "stars" add constraint "stars_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade`,
  `alter table "stars" add constraint "stars_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update cascade on delete cascade`,
];

/** Without these, removing one user, namespace or project reads whole tables. */
const references = [
  `create index "builds_user_id_index" on "builds" ("user_id")`,
  `create index "builds_erased_by_id_index" on "builds" ("erased_by_id") where "erased_by_id" is not null`,
  `create index "pipelines_user_id_index" on "pipelines" ("user_id")`,
  `create index "events_author_id_index" on "events" ("author_id")`,
  `create index "external_statuses_user_id_index" on "external_statuses" ("user_id")`,
  `create index "triggers_owner_id_index" on "triggers" ("owner_id")`,
  `create index "pushes_user_id_index" on "pushes" ("user_id")`,
  `create index "projects_creator_id_index" on "projects" ("creator_id")`,
  `create index "projects_namespace_id_index" on "projects" ("namespace_id")`,
];

/** A page of all projects is read from one of these alone, however far back it is. */
const pages = orders.map(
  (column) =>
    `create index "projects_${column}_page_index" on "projects" ("${column}", "id") include ("visibility_level", "archived") where not "pending_delete"`,
);

/**
 * How many projects there are: counting a hundred thousand takes longer than reading a page of them. Each change is
 * a row of its own, so that no two requests wait for each other; a task adds them up now and then.
 */
const counts = [
  `create table "project_counts" (
    "id" bigserial primary key,
    "visibility_level" smallint not null,
    "archived" boolean not null,
    "change" int not null
  )`,
  `insert into "project_counts" ("visibility_level", "archived", "change")
    select "visibility_level", "archived", count(*) from "projects" where not "pending_delete" group by 1, 2`,
  `create function count_project() returns trigger language plpgsql as $$
  begin
    if tg_op <> 'INSERT' and not old.pending_delete then
      insert into project_counts (visibility_level, archived, change) values (old.visibility_level, old.archived, -1);
    end if;
    if tg_op <> 'DELETE' and not new.pending_delete then
      insert into project_counts (visibility_level, archived, change) values (new.visibility_level, new.archived, 1);
    end if;
    return null;
  end $$`,
  `create trigger count_project after insert or delete on projects for each row execute function count_project()`,
  `create trigger count_changed_project after update of visibility_level, archived, pending_delete on projects for each row
    when ((old.visibility_level, old.archived, old.pending_delete) is distinct from
      (new.visibility_level, new.archived, new.pending_delete))
    execute function count_project()`,
];

/** Searches for a part of a text. A PostgreSQL that lacks the extension, or refuses it, reads all rows instead. */
const searches = `do $$ begin
  create extension if not exists pg_trgm;
  create index "projects_search_index" on "projects" using gin ("path" gin_trgm_ops, "name" gin_trgm_ops, "description" gin_trgm_ops);
  create index "namespaces_search_index" on "namespaces" using gin ("name" gin_trgm_ops, "path" gin_trgm_ops);
  create index "users_search_index" on "users" using gin ("name" gin_trgm_ops, "username" gin_trgm_ops, "email" gin_trgm_ops);
exception when insufficient_privilege or undefined_file or feature_not_supported or undefined_object then
  raise notice 'searches will be slower: %', sqlerrm;
end $$`;

/** Stars, and what keeps lists, searches and removals fast when there are many projects. */
export class StarsAndSearches extends Migration {
  override up(): void {
    for (const statement of [...stars, ...references, ...pages, ...counts, searches]) this.addSql(statement);
  }
}
