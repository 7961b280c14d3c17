import { Migration } from '@mikro-orm/migrations';

const statements = [
  `alter table "hook_deliveries"
    drop constraint "hook_deliveries_state_check",
    add constraint "hook_deliveries_state_check" check ("state" in ('waiting', 'delivered', 'failed', 'dropped'))`,
  `create index "hook_deliveries_dropped_index" on "hook_deliveries" ("hook_id") where "state" = 'dropped'`,
];

/** A message that a hook had no room for is among its deliveries. */
export class DroppedMessages extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
