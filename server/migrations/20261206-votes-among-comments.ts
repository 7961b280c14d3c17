import { Migration } from '@mikro-orm/migrations';

// Added to what there is, so that nothing is lost that is said at the same time.
function countVotes(table: string, type: string): string {
  return `update ${table} t set user_notes_count = t.user_notes_count + v.votes
    from (
      select noteable_id, count(*) as votes from notes where noteable_type = '${type}' and is_award group by noteable_id
    ) v
    where t.id = v.noteable_id`;
}

const statements = [countVotes('issues', 'Issue'), countVotes('merge_requests', 'MergeRequest')];

/** Votes are comments of an issue or merge request, and count among them. */
export class VotesAmongComments extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}
