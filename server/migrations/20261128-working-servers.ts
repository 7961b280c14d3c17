import { Migration } from '@mikro-orm/migrations';

const statements = [
  `create table "working_servers" (
    "id" uuid not null,
    "worker" text null,
    "serving_since" timestamptz(3) not null default now(),
    "seen_at" timestamptz(3) not null default now(),
    constraint "working_servers_pkey" primary key ("id")
  )`,
];

/** Which server processes are alive, so that the tasks of dead ones are taken over. */
export class WorkingServers extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
