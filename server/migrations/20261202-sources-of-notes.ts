import { Migration } from '@mikro-orm/migrations';

const statements = [
  `alter table "notes"
    add column "reference_type" text check ("reference_type" in ('Commit', 'Issue', 'MergeRequest', 'Snippet')) null,
    add column "reference_project_id" int null,
    add column "reference_id" int null,
    add column "reference_sha" varchar(40) null`,
  `alter table "notes" add constraint "notes_reference_check" check (
    num_nonnulls(reference_id, reference_sha) = num_nonnulls(reference_type)
      and num_nonnulls(reference_project_id) = num_nonnulls(reference_type))`,
  `create unique index "notes_reference_key" on "notes" ("noteable_id", "noteable_type", "reference_type", "reference_id") where "reference_id" is not null`,
  `create unique index "notes_reference_sha_key" on "notes" ("noteable_id", "noteable_type", "reference_project_id", "reference_sha") where "reference_sha" is not null`,
  `create index "notes_reference_index" on "notes" ("reference_project_id", "reference_type", "reference_id") where "reference_type" is not null`,
  `create unique index "notes_award_key" on "notes" ("noteable_id", "noteable_type", "author_id", "body") where "is_award"`,
  `create index "events_target_index" on "events" ("target_id", "target_type") where "target_id" is not null`,
];

/** Where a thing was named, once for each place; one vote of a kind for everybody. */
export class SourcesOfNotes extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
