import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { createdAt, timestamp } from './columns.ts';

/** What the administrator tells everybody for a while. */
export const BroadcastMessage = defineEntity({
  name: 'BroadcastMessage',
  tableName: 'broadcast_messages',
  properties: {
    id: p.integer().primary(),
    message: p.text(),
    startsAt: timestamp(),
    endsAt: timestamp(),
    /** Background and text, as `#` and 3 or 6 hexadecimal digits. */
    color: p.string().length(7).nullable(),
    font: p.string().length(7).nullable(),
    createdAt: createdAt(),
    updatedAt: createdAt(),
  },
});
export type BroadcastMessage = InferEntity<typeof BroadcastMessage>;
