import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';

/** All settings that an administrator may change while the server runs. */
export interface SettingsRow {
  id: number;
  default_projects_limit: number;
  signup_enabled: boolean;
  signin_enabled: boolean;
  avatar_service_enabled: boolean;
  sign_in_text: string | null;
  home_page_url: string | null;
  after_sign_out_path: string | null;
  default_branch_protection: number;
  restricted_visibility_levels: number[];
  max_attachment_size: number;
  session_expire_delay: number;
  default_project_visibility: number;
  default_snippet_visibility: number;
  default_group_visibility: number;
  restricted_signup_domains: string[];
  user_oauth_applications: boolean;
  shared_runners_enabled: boolean;
  max_artifacts_size: number;
  send_user_confirmation_email: boolean;
  local_requests_allowed: boolean;
  runners_registration_token_sealed: Buffer;
  created_at: Date;
  updated_at: Date;
}

const byId = `select id, default_projects_limit, signup_enabled, signin_enabled, avatar_service_enabled, sign_in_text,
  home_page_url, after_sign_out_path, default_branch_protection, restricted_visibility_levels,
  max_attachment_size, session_expire_delay, default_project_visibility, default_snippet_visibility,
  default_group_visibility, restricted_signup_domains, user_oauth_applications, shared_runners_enabled,
  max_artifacts_size, send_user_confirmation_email, local_requests_allowed, runners_registration_token_sealed,
  created_at, updated_at from settings where id = 1`;

/** @throws Error when the row is gone, which is made at the first start. */
export async function readSettings(em: EntityManager): Promise<SettingsRow> {
  const row = await sqlOne<SettingsRow>(em, byId);
  if (!row) throw new Error('the row of settings is missing');
  return row;
}
