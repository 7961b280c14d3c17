import { hash } from '@node-rs/argon2';
import { AppError, notFound } from '../errors.ts';
import { mailProjectMoves } from '../mail/queue-mail.ts';
import { endSessions } from '../oauth/end-sessions.ts';
import { cleanAttributes, type UserAttributes } from '../policy/user-attributes.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { forgetNotificationEmail } from './emails.ts';
import { storeIdentity } from './identities.ts';
import { isLastAdmin } from './last-admin.ts';
import { announceNamespaceMove } from './move-namespace.ts';
import { checkUser } from './user-faults.ts';

export interface UserChange {
  userId: number;
  /** The administrator. */
  viewer: Viewer;
  change: UserAttributes;
  /** Found by whoever read the request. */
  faults: Record<string, string[]>;
}

interface Before {
  username: string;
  email: string;
}

/**
 * Changes what is given and leaves the rest. A new name moves the namespace; a further address that becomes the
 * primary one changes places with it; a new password ends what the old one has signed in to.
 *
 * @throws AppError 404 when there is no such user, or with the faults, as the interface has it.
 */
export async function updateUser(work: Work, request: UserChange): Promise<void> {
  const { userId, viewer } = request;
  const change = cleanAttributes(request.change);
  const { faults } = await checkUser(work, { userId, user: change, faults: request.faults });
  if (change.admin === false && (await isLastAdmin(work, userId))) {
    faults.admin = ['cannot be taken from the last administrator'];
  }
  const before = await sqlOne<Before>(
    work.em,
    'select username, email from users where id = $1 for no key update',
    [userId],
  );
  if (!before) throw notFound();
  if (Object.keys(faults).length > 0) throw new AppError({ status: 404, message: faults });
  if (change.email !== undefined) await moveEmail(work, { userId, from: before.email, to: change.email });
  await writeUser(work, userId, change);
  await storeIdentity(work, userId, change);
  if (change.password !== undefined) await endSessions(work, userId);
  if (change.username !== undefined && change.username !== before.username) {
    await moveNamespace(work, { userId, from: before.username, to: change.username, by: viewer.id });
  }
}

const columns = `email = coalesce($2, email), username = coalesce($3, username), name = coalesce($4, name),
  password_hash = coalesce($5, password_hash), skype = coalesce($6, skype), linkedin = coalesce($7, linkedin),
  twitter = coalesce($8, twitter), website_url = coalesce($9, website_url), bio = coalesce($10, bio),
  location = coalesce($11, location), is_admin = coalesce($12, is_admin), external = coalesce($13, external),
  can_create_group = not coalesce($13, external) and coalesce($14, can_create_group),
  projects_limit = case when coalesce($13, external) then 0 else coalesce($15, projects_limit) end,
  updated_at = now()`;

async function writeUser({ em }: Work, userId: number, change: UserAttributes): Promise<void> {
  const given = [
    change.email,
    change.username,
    change.name,
    change.password === undefined ? null : await hash(change.password),
    change.skype,
    change.linkedin,
    change.twitter,
    change.website_url,
    change.bio,
    change.location,
    change.admin,
    change.external,
    change.can_create_group,
    change.projects_limit,
  ];
  await sql(em, `update users set ${columns} where id = $1`, [
    userId,
    ...given.map((value) => value ?? null),
  ]);
}

interface Move {
  userId: number;
  from: string;
  to: string;
}

async function moveEmail({ em }: Work, { userId, from, to }: Move): Promise<void> {
  if (from.toLowerCase() === to) return;
  const was = await sqlOne(
    em,
    'delete from emails where user_id = $1 and lower(email) = lower($2) returning id',
    [userId, to],
  );
  if (was) await sql(em, 'insert into emails (user_id, email) values ($1, $2)', [userId, from]);
  else await forgetNotificationEmail({ em }, userId, from);
}

/** The projects of a user lie below his name, so that all their addresses change. */
async function moveNamespace(work: Work, { userId, from, to, by }: Move & { by: number }): Promise<void> {
  const { em } = work;
  const namespace = await sqlOne<{ id: number }>(
    em,
    'update namespaces set path = $2, name = $2, updated_at = now() where owner_id = $1 returning id',
    [userId, to],
  );
  if (!namespace) return;
  const moves = await announceNamespaceMove(work, { namespaceId: namespace.id, oldPath: from });
  await mailProjectMoves(work, moves, by);
}
