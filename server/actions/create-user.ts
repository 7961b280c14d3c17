import { hash } from '@node-rs/argon2';
import { Namespace } from '../entities/namespace.ts';
import { User } from '../entities/user.ts';
import { newToken } from '../secrets.ts';
import type { Work } from '../services.ts';

export interface NewUser {
  username: string;
  name: string;
  email: string;
  password: string;
  isAdmin?: boolean;
  projectsLimit?: number;
  /** Private token; a random one unless told. */
  token?: string;
}

/** Makes a user together with the namespace of the same name. */
export async function createUser(work: Work, request: NewUser): Promise<User> {
  const stored = work.secrets.store(request.token ?? newToken());
  const user = work.em.create(User, {
    username: request.username,
    name: request.name,
    email: request.email.toLowerCase(),
    passwordHash: await hash(request.password),
    isAdmin: request.isAdmin ?? false,
    projectsLimit: request.projectsLimit ?? 10,
    privateTokenDigest: stored.digest,
    privateTokenSealed: stored.sealed,
    confirmedAt: new Date(),
  });
  work.em.create(Namespace, { kind: 'user', path: request.username, name: request.username, owner: user });
  await work.em.flush();
  return user;
}
