import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt } from './columns.ts';
import { User } from './user.ts';

/** Who a user is at another service that vouches for him. */
export const Identity = defineEntity({
  name: 'Identity',
  tableName: 'identities',
  properties: {
    id: p.integer().primary(),
    user: () => p.manyToOne(User).deleteRule('cascade'),
    provider: p.string(),
    externUid: p.string(),
    createdAt: createdAt(),
  },
  uniques: [
    { name: 'identities_user_id_provider_key', properties: ['user', 'provider'] },
    { name: 'identities_provider_extern_uid_key', properties: ['provider', 'externUid'] },
  ],
});
export type Identity = InferEntity<typeof Identity>;
