import type { HookFlags } from '../actions/hooks.ts';
import { invalid } from '../errors.ts';
import { flag, optional, type Param, text, type Values } from '../http/params.ts';

/** Attributes of hooks, of projects and of the system. */
export const hookParams = {
  url: text(),
  token: optional({ ...headerText(), keepBlank: true }),
  push_events: optional(flag()),
  tag_push_events: optional(flag()),
  issues_events: optional(flag()),
  merge_requests_events: optional(flag()),
  note_events: optional(flag()),
  build_events: optional(flag()),
  enable_ssl_verification: optional(flag()),
};

export function readHookFlags(given: Values<typeof hookParams>): HookFlags {
  const { url: _url, token: _token, ...flags } = given;
  return flags;
}

/** What can be the value of a header. */
function headerText(): Param<string> {
  const inner = text({ max: 255 });
  return {
    ...inner,
    read(raw, name) {
      const value = inner.read(raw, name);
      if (!/^[\x20-\x7e]*$/.test(value)) throw invalid({ [name]: ['is invalid'] });
      return value;
    },
  };
}
