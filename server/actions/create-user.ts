import { hash } from '@node-rs/argon2';
import { Namespace } from '../entities/namespace.ts';
import { Settings } from '../entities/settings.ts';
import { User } from '../entities/user.ts';
import { AppError, conflict } from '../errors.ts';
import { announceUser } from '../hooks/announce.ts';
import { cleanAttributes, type UserAttributes } from '../policy/user-attributes.ts';
import { newToken } from '../secrets.ts';
import type { Work } from '../services.ts';
import { storeIdentity } from './identities.ts';
import { type CheckResult, checkUser, type UserFaults } from './user-faults.ts';

export interface NewUser extends UserAttributes {
  username: string;
  name: string;
  email: string;
  password: string;
  /** Private token; a random one unless told. */
  token?: string | undefined;
  /** False for one who has to confirm his address first. */
  isConfirmed?: boolean | undefined;
}

/** Makes a user together with the namespace of the same name, without any check. @returns his id. */
export async function createUser(work: Work, request: NewUser): Promise<number> {
  const stored = work.secrets.store(request.token ?? newToken());
  const id = await work.em.insert(User, {
    username: request.username,
    name: request.name,
    email: request.email.toLowerCase(),
    passwordHash: await hash(request.password),
    skype: request.skype ?? '',
    linkedin: request.linkedin ?? '',
    twitter: request.twitter ?? '',
    websiteUrl: request.website_url ?? '',
    bio: request.bio ?? null,
    location: request.location ?? null,
    isAdmin: request.admin ?? false,
    external: request.external ?? false,
    projectsLimit: request.external ? 0 : (request.projects_limit ?? 10),
    canCreateGroup: !request.external && (request.can_create_group ?? true),
    privateTokenDigest: stored.digest,
    privateTokenSealed: stored.sealed,
    confirmedAt: request.isConfirmed === false ? null : new Date(),
  });
  const { username } = request;
  await work.em.insert(Namespace, { kind: 'user', path: username, name: username, owner: id });
  return id;
}

export interface UserRequest {
  user: NewUser;
  /** Found by whoever read the request; if there are any, `user` is not whole. */
  faults: Record<string, string[]>;
  /** Whether the new user shall confirm his address, where the settings ask for that at all. */
  isToConfirm: boolean;
}

/**
 * Makes a user as an administrator asks for.
 *
 * @returns his id.
 * @throws AppError 409 for an address or a name that another user has, 400 with all other faults.
 */
export async function addUser(work: Work, request: UserRequest): Promise<number> {
  const draft = await draftUser(work, request);
  if (draft.taken.email) throw conflict('Email has already been taken');
  if (draft.taken.username) throw conflict('Username has already been taken');
  if (hasFaults(draft)) throw new AppError({ status: 400, message: draft.faults });
  return storeDraft(work, draft);
}

export interface Registration {
  /** All that somebody may say of himself; nothing of what he may do. */
  user: Record<'username' | 'name' | 'email' | 'password', string>;
  /** Found by whoever read the request. */
  faults: Record<string, string[]>;
}

/**
 * Makes a user as he himself asks for. Whether anybody may is not looked at.
 *
 * @param work in a transaction.
 * @returns his id, or what is wrong with what he asks for.
 */
export async function registerUser(
  work: Work,
  { user: { username, name, email, password }, faults }: Registration,
): Promise<{ id: number } | { faults: UserFaults }> {
  const user = { username, name, email, password };
  const draft = await draftUser(work, { user, faults, isToConfirm: true });
  return hasFaults(draft) ? { faults: draft.faults } : { id: await storeDraft(work, draft) };
}

/** A user to be, with all that is wrong with him. */
interface Draft extends CheckResult {
  user: NewUser;
}

async function draftUser(work: Work, { user, faults, isToConfirm }: UserRequest): Promise<Draft> {
  const settings = await work.em.findOneOrFail(Settings, { id: 1 });
  const clean = { ...user, ...cleanAttributes(user) };
  const domains = settings.restrictedSignupDomains;
  const checked = await checkUser(work, { userId: null, user: clean, faults, domains });
  return {
    ...checked,
    user: {
      ...clean,
      projects_limit: clean.projects_limit ?? settings.defaultProjectsLimit,
      isConfirmed: !(settings.sendUserConfirmationEmail && isToConfirm),
    },
  };
}

function hasFaults({ faults }: Draft): boolean {
  return Object.keys(faults).length > 0;
}

async function storeDraft(work: Work, { user }: Draft): Promise<number> {
  const id = await createUser(work, user);
  await storeIdentity(work, id, user);
  await announceUser(work, 'user_create', id);
  return id;
}
