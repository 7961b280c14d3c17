import { updateSettings } from '../actions/update-settings.ts';
import { admin } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Values } from '../http/params.ts';
import { presentSettings, SettingsJson } from '../present/settings.ts';
import { readSettings } from '../queries/settings.ts';
import type { Work } from '../services.ts';
import { settingsAttributes } from './settings-attributes.ts';

const get = endpoint({
  method: 'GET',
  path: '/application/settings',
  summary: 'The settings of the instance',
  access: admin(),
  returns: SettingsJson,
  run: ({ work }) => present(work),
});

const put = endpoint({
  method: 'PUT',
  path: '/application/settings',
  summary: 'Changes settings of the instance',
  access: admin(),
  params: settingsAttributes,
  returns: SettingsJson,
  async run({ params, work }) {
    await updateSettings(work, changeOf(params));
    return present(work);
  },
});

export const endpoints: Endpoint[] = [get, put];

async function present(work: Work) {
  const row = await readSettings(work.em);
  return presentSettings(row, work.secrets.open(row.runners_registration_token_sealed));
}

/** The same in the words of the action. Two have another name in later versions of the interface. */
function changeOf(given: Values<typeof settingsAttributes>) {
  return {
    defaultProjectsLimit: given.default_projects_limit,
    signupEnabled: given.signup_enabled,
    signinEnabled: given.signin_enabled,
    avatarServiceEnabled: given.avatar_service_enabled ?? given.gravatar_enabled,
    signInText: given.sign_in_text,
    homePageUrl: given.home_page_url,
    afterSignOutPath: given.after_sign_out_path,
    defaultBranchProtection: given.default_branch_protection,
    restrictedVisibilityLevels: given.restricted_visibility_levels,
    maxAttachmentSize: given.max_attachment_size,
    sessionExpireDelay: given.session_expire_delay,
    defaultProjectVisibility: given.default_project_visibility,
    defaultSnippetVisibility: given.default_snippet_visibility,
    restrictedSignupDomains: given.restricted_signup_domains ?? given.domain_whitelist,
    userOauthApplications: given.user_oauth_applications,
    defaultGroupVisibility: given.default_group_visibility,
    sharedRunnersEnabled: given.shared_runners_enabled,
    maxArtifactsSize: given.max_artifacts_size,
    sendUserConfirmationEmail: given.send_user_confirmation_email,
    localRequestsAllowed: given.local_requests_allowed,
    runnersRegistrationToken: given.runners_registration_token,
  };
}
