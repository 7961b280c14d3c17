import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';

/** What the pages of signing in and out, and of registering, ask of the settings. */
export interface SignInSettings {
  signin_enabled: boolean;
  signup_enabled: boolean;
  sign_in_text: string | null;
  after_sign_out_path: string | null;
}

const statement = `select signin_enabled, signup_enabled, sign_in_text, after_sign_out_path
  from settings where id = 1`;

export async function signInSettings(em: EntityManager): Promise<SignInSettings> {
  const nothing = {
    signin_enabled: true,
    signup_enabled: false,
    sign_in_text: null,
    after_sign_out_path: null,
  };
  return (await sqlOne<SignInSettings>(em, statement)) ?? nothing;
}

/** Whether users who are no administrators may register programs that act for users. */
export async function mayRegisterApplications(em: EntityManager): Promise<boolean> {
  return (await sqlOne(em, 'select 1 from settings where id = 1 and user_oauth_applications')) !== null;
}
