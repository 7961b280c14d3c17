import { namespacePathFaults } from './namespace-path.ts';
import { emailFaults, normalEmail, passwordFaults, withoutTags } from './user-names.ts';

/** What an administrator may say of a user, as the interface calls it. What is absent stays as it is. */
export interface UserAttributes {
  email?: string | undefined;
  password?: string | undefined;
  username?: string | undefined;
  name?: string | undefined;
  skype?: string | undefined;
  linkedin?: string | undefined;
  twitter?: string | undefined;
  website_url?: string | undefined;
  projects_limit?: number | undefined;
  /** Who the user is at `provider`; of no meaning without it. */
  extern_uid?: string | undefined;
  provider?: string | undefined;
  bio?: string | undefined;
  location?: string | undefined;
  admin?: boolean | undefined;
  can_create_group?: boolean | undefined;
  /** A stranger to internal projects, with no group and no project of his own. */
  external?: boolean | undefined;
}

/** The same as it is stored: names without HTML tags and outer blanks, the address in lower case. */
export function cleanAttributes(given: UserAttributes): UserAttributes {
  const clean = { ...given };
  for (const key of ['username', 'name', 'skype', 'linkedin', 'twitter'] as const) {
    const value = clean[key];
    if (value !== undefined) clean[key] = withoutTags(value);
  }
  if (clean.email !== undefined) clean.email = normalEmail(clean.email);
  return clean;
}

/** What is wrong with those that are given; empty when nothing is. Whether names are free is not seen. */
export function attributeFaults(user: UserAttributes): Record<string, string[]> {
  const found = {
    email: user.email === undefined ? [] : emailFaults(user.email),
    password: user.password === undefined ? [] : passwordFaults(user.password),
    username: user.username === undefined ? [] : namespacePathFaults(user.username),
    name: user.name === '' ? ["can't be blank"] : [],
  };
  return Object.fromEntries(Object.entries(found).filter(([, texts]) => texts.length > 0));
}
