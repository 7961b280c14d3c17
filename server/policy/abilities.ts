import { type AccessLevel, accessLevels } from '../../shared/access-level.ts';

const { guest, reporter, developer, master, owner } = accessLevels;

/** A feature of a project that can be switched off; its abilities then go for everyone. */
export type Feature = 'issues' | 'merge_requests' | 'snippets' | 'builds' | 'issues_or_merge_requests';

interface Rule {
  /** Least level of a member. */
  from: AccessLevel;
  /** Whether a signed-in stranger may do it on a project that he can see. */
  visible: boolean | 'public_builds';
  /** Status that a caller without the right gets. */
  denied: 400 | 401 | 403 | 404;
  feature?: Feature;
  /** True when an archived project takes the right from everyone. */
  writes?: boolean;
}

const anyMember = { from: guest, visible: true, denied: 404 } as const;
const readers = { from: reporter, visible: true, denied: 403 } as const;
const reporters = { from: reporter, visible: false, denied: 403 } as const;
const developers = { from: developer, visible: false, denied: 403 } as const;
const masters = { from: master, visible: false, denied: 403 } as const;
const owners = { from: owner, visible: false, denied: 403 } as const;

/** Who may do what with a project. Rights add up: whoever is a member has a stranger's rights too. */
export const projectAbilities = {
  read_project: anyMember,
  read_issue: { ...anyMember, denied: 403, feature: 'issues' },
  read_merge_request: { ...anyMember, denied: 403, feature: 'merge_requests' },
  read_snippet: { ...anyMember, denied: 403, feature: 'snippets' },
  read_label: { ...anyMember, denied: 403, feature: 'issues_or_merge_requests' },
  read_milestone: { ...anyMember, denied: 403, feature: 'issues_or_merge_requests' },
  star_project: anyMember,
  create_issue: { ...anyMember, denied: 403, feature: 'issues' },
  create_note: anyMember,
  upload_file: anyMember,
  read_code: readers,
  fork_project: readers,
  read_commit_status: readers,
  read_build: { from: reporter, visible: 'public_builds', denied: 403, feature: 'builds' },
  admin_issue: { ...reporters, feature: 'issues' },
  move_issue: { ...reporters, denied: 400, feature: 'issues' },
  admin_label: { ...reporters, feature: 'issues_or_merge_requests' },
  create_snippet: { ...reporters, feature: 'snippets' },
  create_merge_request: { ...developers, feature: 'merge_requests', writes: true },
  admin_merge_request: { ...developers, feature: 'merge_requests', writes: true },
  /** Beside it, the target branch must take the caller's pushes. */
  accept_merge_request: { ...developers, denied: 401, feature: 'merge_requests', writes: true },
  push_code: { ...developers, writes: true },
  /** Developers get it branch by branch. */
  push_protected_code: { ...masters, writes: true },
  /** Moving or deleting a tag that exists, by git. */
  change_tag: { ...masters, writes: true },
  create_commit_status: developers,
  update_build: { ...developers, feature: 'builds' },
  admin_milestone: { ...masters, feature: 'issues_or_merge_requests' },
  admin_note: masters,
  admin_snippet: { ...masters, feature: 'snippets' },
  admin_project: masters,
  /** Variables, triggers and runners. */
  admin_ci: masters,
  /** To everybody else there is none to delete. */
  delete_issue: { ...owners, denied: 404, feature: 'issues' },
  delete_merge_request: { ...owners, denied: 404, feature: 'merge_requests' },
  /** Rename, change visibility, archive, delete, transfer, unlink a fork. */
  own_project: owners,
} satisfies Record<string, Rule>;

export type ProjectAbility = keyof typeof projectAbilities;

export function ruleOf(ability: ProjectAbility): Rule {
  return projectAbilities[ability];
}
