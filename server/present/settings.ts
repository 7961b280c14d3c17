import { z } from 'zod';
import type { SettingsRow } from '../queries/settings.ts';
import { presentTime, Timestamp } from './timestamp.ts';

const Level = z.union([z.literal(0), z.literal(1), z.literal(2)]);

/** Interface: "Application settings", and what this server has beside them. */
export const SettingsJson = z.strictObject({
  id: z.number(),
  default_projects_limit: z.number(),
  signup_enabled: z.boolean(),
  signin_enabled: z.boolean(),
  avatar_service_enabled: z.boolean(),
  sign_in_text: z.string().nullable(),
  home_page_url: z.string().nullable(),
  after_sign_out_path: z.string().nullable(),
  default_branch_protection: z.number(),
  restricted_visibility_levels: z.array(Level),
  max_attachment_size: z.number(),
  session_expire_delay: z.number(),
  default_project_visibility: Level,
  default_snippet_visibility: Level,
  restricted_signup_domains: z.array(z.string()),
  user_oauth_applications: z.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
  default_group_visibility: Level,
  shared_runners_enabled: z.boolean(),
  max_artifacts_size: z.number(),
  send_user_confirmation_email: z.boolean(),
  local_requests_allowed: z.boolean(),
  runners_registration_token: z.string(),
});

/** @param registrationToken with which runners for all projects are registered. */
export function presentSettings(row: SettingsRow, registrationToken: string): z.infer<typeof SettingsJson> {
  const { runners_registration_token_sealed: _, ...shown } = row;
  return {
    ...shown,
    restricted_visibility_levels: row.restricted_visibility_levels.map(presentLevel),
    default_project_visibility: presentLevel(row.default_project_visibility),
    default_snippet_visibility: presentLevel(row.default_snippet_visibility),
    default_group_visibility: presentLevel(row.default_group_visibility),
    created_at: presentTime(row.created_at),
    updated_at: presentTime(row.updated_at),
    runners_registration_token: registrationToken,
  };
}

/** Settings count 0, 1, 2 what is 0, 10, 20 everywhere else. */
function presentLevel(level: number): z.infer<typeof Level> {
  return level === 20 ? 2 : level === 10 ? 1 : 0;
}
