import { Migration } from '@mikro-orm/migrations';

const statements = [
  `alter table "hooks" add column "paused_until" timestamptz(3) null`,
  `alter table "hook_deliveries"
    alter column "body" drop not null,
    add column "subject" text null,
    add column "due_at" timestamptz(3) not null default now()`,
];

/** Messages to hooks are written when they are sent, and a receiver that is away gets none before its time. */
export class OrderOfDeliveries extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
