import type { Letter } from './news.ts';

const advice = 'If that was not you, change your password at once and ask your administrator for help.';

/** That a key may now be used in the recipient's name. */
export function newKeyLetter(title: string, host: string): Letter {
  return {
    fromName: null,
    subject: 'SSH key added to your account',
    text: `The SSH key "${title}" was added to your account at ${host}.\n\n${advice}\n`,
    headers: {},
  };
}

/** That an address now counts as the recipient's. */
export function newEmailLetter(email: string, host: string): Letter {
  return {
    fromName: null,
    subject: 'E-mail address added to your account',
    text: `The address ${email} was added to your account at ${host}.\n\n${advice}\n`,
    headers: {},
  };
}
