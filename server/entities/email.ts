import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt } from './columns.ts';
import { User } from './user.ts';

/** A further address of a user. His primary one is a column of his own; no address is in both places. */
export const Email = defineEntity({
  name: 'Email',
  tableName: 'emails',
  properties: {
    id: p.integer().primary(),
    user: () => p.manyToOne(User).deleteRule('cascade').index('emails_user_id_index'),
    email: p.string(),
    createdAt: createdAt(),
    updatedAt: createdAt(),
  },
  indexes: [
    {
      name: 'emails_email_key',
      expression: 'create unique index "emails_email_key" on "emails" (lower("email"))',
    },
  ],
});
export type Email = InferEntity<typeof Email>;
