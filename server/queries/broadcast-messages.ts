import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';
import type { ListQuery } from './list-query.ts';

export interface BroadcastMessageRow {
  id: number;
  message: string;
  starts_at: Date;
  ends_at: Date;
  color: string | null;
  font: string | null;
  /** Shown at this moment. */
  active: boolean;
}

const columns = `b.id, b.message, b.starts_at, b.ends_at, b.color, b.font,
  b.starts_at <= now() and now() < b.ends_at as active`;
const byId = `select ${columns} from broadcast_messages b where b.id = $1`;

/** All messages, newest first. */
export const broadcastMessages: ListQuery = {
  columns,
  from: 'broadcast_messages b',
  order: 'b.id desc',
  values: [],
};

export async function broadcastMessageById(
  em: EntityManager,
  id: number,
): Promise<BroadcastMessageRow | null> {
  return sqlOne<BroadcastMessageRow>(em, byId, [id]);
}
