import { accessLevels } from '../../shared/access-level.ts';
import { announceKeys, announceUser } from '../hooks/announce.ts';
import { type UserRow, userById } from '../queries/user-row.ts';
import type { Work } from '../services.ts';
import { inTransaction, sql, sqlOne } from '../sql.ts';
import { isLastAdmin } from './last-admin.ts';
import { isLastOwner } from './last-owner.ts';
import { removeNamespace } from './remove-namespace.ts';
import { removeWritings } from './remove-writings.ts';
import { forgetStars } from './star-project.ts';
import { takeTurns } from './take-turns.ts';

/** Undoes what was done before the last look found something that would be left without anybody. */
class StillNeeded extends Error {}

/**
 * Removes a user for good, with his keys, addresses, memberships and tokens, and with his projects: these are hidden
 * at once, and tasks remove what was in them. What he wrote elsewhere goes too: issues, merge requests, snippets and
 * comments; what else he did there stays, without an author. The last owner of a group who is not blocked stays, and so
 * does the last administrator.
 *
 * @param work outside a transaction.
 * @returns the user, or null when there is none.
 */
export async function deleteUser(work: Work, userId: number): Promise<UserRow | null> {
  const user = await userById(work.em, userId);
  if (!user) return null;
  try {
    await inTransaction(work, (inner) => removeUser(inner, userId));
  } catch (error) {
    if (!(error instanceof StillNeeded)) throw error;
  }
  return user;
}

async function removeUser(work: Work, userId: number): Promise<void> {
  const { em } = work;
  await takeTurns(work, [`removal of user ${userId}`]);
  if (await isLastAdmin(work, userId)) throw new StillNeeded();
  // Who adds or removes owners of these groups waits, or is through; the groups that others lock come first.
  await sql(em, lockGroups, [userId, accessLevels.owner]);
  await requireUnneeded(work, userId);
  // Before his own row is locked: whoever adds to what he wrote has locked that, and then asks for his row.
  await removeWritings(work, userId);
  await forgetAuthor(work, userId);
  const found = await sqlOne<{ namespace_id: number | null }>(em, lockUser, [userId]);
  if (!found) return;
  await requireUnneeded(work, userId);
  // What he wrote, or others to him, before his row was locked; from now on he stars nothing either.
  await removeWritings(work, userId);
  await forgetStars(work, userId);
  await announceEnd(work, userId);
  if (found.namespace_id !== null) await removeNamespace(work, found.namespace_id);
  await sql(em, 'delete from users where id = $1', [userId]);
}

const lockGroups = `
  select 1 from namespaces where id in (
    select group_id from group_members where user_id = $1 and access_level >= $2) order by id for no key update`;

/** In a statement of its own: the namespace is read once everybody who was making something in it is through. */
const lockUser = `
  select u.id, (select n.id from namespaces n where n.owner_id = u.id) as namespace_id
  from users u where u.id = $1 for update of u`;

/** @throws StillNeeded when he is the last owner of a group. */
async function requireUnneeded(work: Work, userId: number): Promise<void> {
  if (await isLastOwner(work, userId, null)) throw new StillNeeded();
}

/**
 * Where others may be at work, in the order in which everybody locks. What is not here the database does alone, but
 * for what there may be very much of, such as builds and events: that keeps his id, behind which there is nobody.
 */
const authored = [
  ['projects', 'creator_id'],
  ['pushes', 'user_id'],
  ['triggers', 'owner_id'],
] as const;

async function forgetAuthor({ em }: Work, userId: number): Promise<void> {
  for (const [table, column] of authored) {
    await sql(em, `update ${table} set ${column} = null where ${column} = $1`, [userId]);
  }
}

async function announceEnd(work: Work, userId: number): Promise<void> {
  const keys = await sql<{ id: number }>(work.em, 'select id from keys where user_id = $1', [userId]);
  await announceKeys(
    work,
    'key_destroy',
    keys.map(({ id }) => id),
  );
  await announceUser(work, 'user_destroy', userId);
}
