import { visibilityLevels } from '../../shared/access-level.ts';
import { invalid } from '../errors.ts';
import { choice, flag, integer, optional, type Param, text, words } from '../http/params.ts';

const { private: hidden, internal, public: open } = visibilityLevels;

/** What stands for a level: settings count 0, 1, 2; everything else 0, 10, 20; later clients say words. */
const levels: Record<string, number> = {
  0: hidden,
  1: internal,
  2: open,
  10: internal,
  20: open,
  private: hidden,
  internal,
  public: open,
};

function level(): Param<number | undefined> {
  const given = text({ max: 20 });
  return optional({
    ...integer(),
    read(raw, name) {
      const found = levelOf(given.read(raw, name));
      if (found === undefined) throw invalid({ [name]: ['is not included in the list'] });
      return found;
    },
  });
}

function levelOf(word: string): number | undefined {
  const key = word.trim().toLowerCase();
  return Object.hasOwn(levels, key) ? levels[key] : undefined;
}

/** As `words`, also as the text of a JSON list; an empty text empties the list. */
function list(): Param<string[]> {
  const given = words();
  return {
    ...given,
    keepBlank: true,
    read: (raw, name) => given.read(typeof raw === 'string' ? listInText(raw) : raw, name),
  };
}

function listInText(raw: string): unknown {
  if (!raw.trim().startsWith('[')) return raw;
  try {
    return JSON.parse(raw);
  } catch {
    // No JSON after all: its reader says what is wrong with it.
    return raw;
  }
}

function levelList(): Param<number[] | undefined> {
  const given = list();
  return optional({
    ...given,
    read(raw, name) {
      const read = given.read(raw, name).map((word) => ({ word, found: levelOf(word) }));
      const unknown = read.filter(({ found }) => found === undefined);
      if (unknown.length > 0) {
        throw invalid({ [name]: unknown.map(({ word }) => `'${word}' is not a valid visibility level`) });
      }
      return [...new Set(read.map(({ found }) => found ?? hidden))].sort((a, b) => a - b);
    },
  });
}

/** Parts of letters, digits and dashes, or with `*` for any of them. */
const domainForm =
  /^(?=.{1,253}$)[\p{L}\p{N}*](?:[\p{L}\p{N}*-]{0,62})(?:\.[\p{L}\p{N}*][\p{L}\p{N}*-]{0,62})*$/u;

function domainList(): Param<string[] | undefined> {
  const given = list();
  return optional({
    ...given,
    read(raw, name) {
      const domains = given.read(raw, name).flatMap((item) => item.split(/[\s;]+/));
      const bad = domains.filter((domain) => !domainForm.test(domain));
      if (bad.length > 0) throw invalid({ [name]: bad.map((domain) => `'${domain}' is not a valid domain`) });
      return [...new Set(domains.map((domain) => domain.toLowerCase()))];
    },
  });
}

function webUrl(): Param<string | undefined> {
  const given = text({ max: 255 });
  return optional({
    ...given,
    read(raw, name) {
      const value = given.read(raw, name).trim();
      const url = URL.canParse(value) ? new URL(value) : null;
      if (!/^https?:\/\/[^\s\p{Cc}]+$/iu.test(value) || !url)
        throw invalid({ [name]: ['must be a valid URL'] });
      return value;
    },
  });
}

function protection(): Param<number | undefined> {
  const given = choice(['0', '1', '2']);
  return optional({ ...integer({ max: 2 }), read: (raw, name) => Number(given.read(raw, name)) });
}

function registrationToken(): Param<string | undefined> {
  const given = text({ max: 255 });
  return optional({
    ...given,
    read(raw, name) {
      const token = given.read(raw, name);
      if (token.length < 20) throw invalid({ [name]: ['is too short (minimum is 20 characters)'] });
      if (!/^[\w-]+$/.test(token)) throw invalid({ [name]: ['is invalid'] });
      return token;
    },
  });
}

/** Megabytes: beyond a terabyte it is a mistake. */
const megabytes = { min: 1, max: 1024 * 1024 };

export const settingsAttributes = {
  default_projects_limit: optional(integer()),
  signup_enabled: optional(flag()),
  signin_enabled: optional(flag()),
  avatar_service_enabled: optional(flag()),
  gravatar_enabled: optional(flag()),
  sign_in_text: optional(text()),
  home_page_url: webUrl(),
  after_sign_out_path: webUrl(),
  default_branch_protection: protection(),
  restricted_visibility_levels: levelList(),
  max_attachment_size: optional(integer(megabytes)),
  session_expire_delay: optional(integer()),
  default_project_visibility: level(),
  default_snippet_visibility: level(),
  restricted_signup_domains: domainList(),
  domain_whitelist: domainList(),
  user_oauth_applications: optional(flag()),
  default_group_visibility: level(),
  shared_runners_enabled: optional(flag()),
  max_artifacts_size: optional(integer(megabytes)),
  send_user_confirmation_email: optional(flag()),
  local_requests_allowed: optional(flag()),
  runners_registration_token: registrationToken(),
};
