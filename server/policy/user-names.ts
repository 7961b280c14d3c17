/** Opening, closing and other tags, also one that is never closed. */
const tag = /<[a-z/!?][^<>]*>?/gi;

/** The text without HTML tags: names are shown in pages, hooks and mails of many kinds. Also without blanks around it. */
export function withoutTags(text: string): string {
  const stripped = text.replace(tag, '');
  // What is left may have become a tag.
  return stripped === text ? text.trim() : withoutTags(stripped);
}

const emailForm = /^[^\s@<>()[\],;:\\"\p{Cc}]{1,64}@[^\s@<>()[\],;:\\"\p{Cc}]+$/u;

/** What is wrong with an address by itself; empty when nothing is. */
export function emailFaults(email: string): string[] {
  if (email === '') return ["can't be blank"];
  if (email.length > 255) return ['is too long (maximum is 255 characters)'];
  const isForm = emailForm.test(email) && !/\.\.|@\.|\.$|@-/.test(email);
  return isForm ? [] : ['is invalid'];
}

/** An address as it is stored and compared. */
export function normalEmail(email: string): string {
  return email.trim().toLowerCase();
}

/**
 * What is wrong with the domain of a new user's address.
 *
 * @param allowed domains, in which `*` stands for anything; none: all are.
 */
export function emailDomainFaults(email: string, allowed: readonly string[]): string[] {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  if (allowed.length === 0 || allowed.some((pattern) => matchesDomain(domain, pattern))) return [];
  return [`is not whitelisted. Email domains valid for registration are: ${allowed.join(', ')}`];
}

/** Compares part by part between the stars, so that no pattern takes long. */
function matchesDomain(domain: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.trim().toLowerCase().split('*');
  const last = rest.pop();
  if (last === undefined) return domain === first;
  if (!domain.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = domain.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return domain.length - last.length >= at && domain.endsWith(last);
}

export const passwordLength = { min: 8, max: 128 };

/** What is wrong with a password; empty when nothing is. */
export function passwordFaults(password: string): string[] {
  const { min, max } = passwordLength;
  if (password.length < min) return [`is too short (minimum is ${min} characters)`];
  return password.length > max ? [`is too long (maximum is ${max} characters)`] : [];
}
