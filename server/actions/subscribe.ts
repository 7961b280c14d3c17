import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

export interface SubscriptionChoice {
  userId: number;
  thing: { column: 'issue_id' | 'merge_request_id' | 'label_id'; id: number };
  subscribed: boolean;
}

/** Keeps whether somebody wants to hear of something; he said so himself, and that counts more than taking part. */
export async function subscribe(
  { em }: Work,
  { userId, thing, subscribed }: SubscriptionChoice,
): Promise<void> {
  await sqlOne(em, statements[thing.column], [userId, thing.id, subscribed]);
}

function statementFor(column: string): string {
  return `insert into subscriptions (user_id, ${column}, subscribed) values ($1, $2, $3)
    on conflict (user_id, ${column}) do update set subscribed = excluded.subscribed`;
}

const statements = {
  issue_id: statementFor('issue_id'),
  merge_request_id: statementFor('merge_request_id'),
  label_id: statementFor('label_id'),
};
