import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt } from './columns.ts';
import { Issue } from './issue.ts';
import { Label } from './label.ts';
import { MergeRequest } from './merge-request.ts';
import { Note } from './note.ts';
import { User } from './user.ts';

/** Whether somebody said that he wants to hear of something, or that he does not. About one thing each. */
export const Subscription = defineEntity({
  name: 'Subscription',
  tableName: 'subscriptions',
  properties: {
    id: p.integer().primary(),
    user: () => p.manyToOne(User).deleteRule('cascade'),
    issue: () => p.manyToOne(Issue).nullable().deleteRule('cascade').index('subscriptions_issue_id_index'),
    mergeRequest: () =>
      p
        .manyToOne(MergeRequest)
        .nullable()
        .deleteRule('cascade')
        .index('subscriptions_merge_request_id_index'),
    label: () => p.manyToOne(Label).nullable().deleteRule('cascade').index('subscriptions_label_id_index'),
    subscribed: p.boolean(),
    createdAt: createdAt(),
  },
  uniques: [
    { name: 'subscriptions_user_id_issue_id_key', properties: ['user', 'issue'] },
    { name: 'subscriptions_user_id_merge_request_id_key', properties: ['user', 'mergeRequest'] },
    { name: 'subscriptions_user_id_label_id_key', properties: ['user', 'label'] },
  ],
  checks: [
    {
      name: 'subscriptions_thing_check',
      expression: 'num_nonnulls(issue_id, merge_request_id, label_id) = 1',
    },
  ],
});
export type Subscription = InferEntity<typeof Subscription>;

/** That a text names a user, who takes part from then on. Kept as the text is, so that reading lists parses none. */
export const Mention = defineEntity({
  name: 'Mention',
  tableName: 'mentions',
  properties: {
    id: p.integer().primary(),
    user: () => p.manyToOne(User).deleteRule('cascade').index('mentions_user_id_index'),
    /** Of both none for comments on commits and snippets. */
    issue: () => p.manyToOne(Issue).nullable().deleteRule('cascade').index('mentions_issue_id_index'),
    mergeRequest: () =>
      p.manyToOne(MergeRequest).nullable().deleteRule('cascade').index('mentions_merge_request_id_index'),
    /** The comment that does; null where title or description do. */
    note: () => p.manyToOne(Note).nullable().deleteRule('cascade').index('mentions_note_id_index'),
  },
});
export type Mention = InferEntity<typeof Mention>;
