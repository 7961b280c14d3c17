import { p } from '@mikro-orm/core';

/** A moment in UTC with milliseconds, the precision that the interface prints. */
export function timestamp() {
  return p.datetime(3);
}

/** Set by the database when the row is made, so that no server's clock matters. */
export function createdAt() {
  return p.datetime(3).defaultRaw('now()');
}

/** A yes-or-no column with its default. */
export function flag(value: boolean) {
  return p.boolean().default(value);
}

/**
 * Id of the user who did something long ago. He may be gone: whoever shows him looks whether he is there. No foreign
 * key, as with one the removal of a user would change all that he ever did.
 */
export function formerUser() {
  return p.integer().nullable();
}
