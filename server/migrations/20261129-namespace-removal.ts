import { Migration } from '@mikro-orm/migrations';

const statements = [
  `alter table "namespaces" add column "pending_delete" boolean not null default false`,
  `create unique index "namespaces_group_name_key" on "namespaces" ("name") where "kind" = 'group' and not "pending_delete"`,
];

/** A namespace is hidden at once and goes when its last project is purged; no two groups have the same name. */
export class NamespaceRemoval extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
