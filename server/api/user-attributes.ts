import { late } from '../http/late-params.ts';
import { flag, integer, optional, text } from '../http/params.ts';

const short = () => late(text({ max: 255 }));
/** Its length is checked with the rest; what is far longer is not even looked at. */
const password = () => late(text());

/** What an administrator must say of a new user, in the order in which what is missing is told. */
export const requiredUserParams = { email: short(), password: password(), username: short(), name: short() };

/** What he may say of any. */
export const optionalUserParams = {
  skype: optional(short()),
  linkedin: optional(short()),
  twitter: optional(short()),
  website_url: optional(short()),
  projects_limit: optional(late(integer())),
  extern_uid: optional(short()),
  provider: optional(short()),
  bio: optional(short()),
  location: optional(short()),
  admin: optional(late(flag())),
  can_create_group: optional(late(flag())),
  external: optional(late(flag())),
};

/** What he may change of one. */
export const changedUserParams = {
  email: optional(short()),
  password: optional(password()),
  username: optional(short()),
  name: optional(short()),
  ...optionalUserParams,
};
