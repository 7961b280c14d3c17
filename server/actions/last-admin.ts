import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { takeTurns } from './take-turns.ts';

/**
 * Whether nobody else could administer the instance without this user: nothing but the database would help then.
 * Until the transaction ends, no other administrator stops being one.
 */
export async function isLastAdmin({ em }: Pick<Work, 'em'>, userId: number): Promise<boolean> {
  const admin = await sqlOne(em, 'select 1 from users where id = $1 and is_admin', [userId]);
  if (!admin) return false;
  await takeTurns({ em }, ['administrators']);
  return (await sqlOne(em, isOnly, [userId])) !== null;
}

const isOnly = `
  select 1 from users u where u.id = $1 and u.is_admin and u.state = 'active' and not exists (
    select 1 from users o where o.id <> u.id and o.is_admin and o.state = 'active')`;
