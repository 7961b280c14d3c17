import { Migration } from '@mikro-orm/migrations';

const columns = [
  ['pipelines', 'user_id'],
  ['builds', 'user_id'],
  ['builds', 'erased_by_id'],
  ['external_statuses', 'user_id'],
  ['events', 'author_id'],
  ['uploads', 'uploader_id'],
] as const;

/** Lets users go without a change of all that they ever wrote, and without the indexes that only found it for that. */
export class AuthorsWithoutKeys extends Migration {
  override up(): void {
    for (const [table, column] of columns) {
      this.addSql(`alter table "${table}" drop constraint "${table}_${column}_foreign"`);
      this.addSql(`drop index "${table}_${column}_index"`);
    }
  }
}
