import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, timestamp } from './columns.ts';
import { User } from './user.ts';

/** A browser that a user signed in with. How long it lasts is a setting that counts from `createdAt`. */
export const WebSession = defineEntity({
  name: 'WebSession',
  tableName: 'web_sessions',
  properties: {
    id: p.integer().primary(),
    /** SHA-256 of what the cookie holds. */
    digest: p.blob().unique('web_sessions_digest_key'),
    user: () => p.manyToOne(User).deleteRule('cascade').index('web_sessions_user_id_index'),
    createdAt: createdAt(),
  },
});
export type WebSession = InferEntity<typeof WebSession>;

/** How often somebody tried something lately, counted for all servers together. */
export const Throttle = defineEntity({
  name: 'Throttle',
  tableName: 'throttles',
  properties: {
    /** What is counted, and whose: an address or an account. */
    key: p.string().primary(),
    count: p.integer(),
    /** When counting begins anew. */
    expiresAt: timestamp(),
  },
});
export type Throttle = InferEntity<typeof Throttle>;
