import { z } from 'zod';
import { visibilityLevels } from '../../shared/access-level.ts';
import { type CloneAddresses, sshUrl } from '../../shared/ssh-url.ts';
import type { ProjectRow } from '../queries/project-row.ts';
import { projectAvatar } from './project-avatar.ts';
import { presentTime, Timestamp } from './timestamp.ts';
import { presentUserSummary, UserSummaryJson } from './user.ts';

const OwnerJson = z.strictObject({ ...UserSummaryJson.shape, created_at: Timestamp });

const NamespaceJson = z.strictObject({
  id: z.number(),
  name: z.string(),
  path: z.string(),
  owner_id: z.number().nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
  description: z.string(),
  avatar: z.strictObject({ url: z.string().nullable() }).nullable(),
  share_with_group_lock: z.boolean(),
  visibility_level: z.number(),
});

const AccessJson = z.strictObject({ access_level: z.number(), notification_level: z.number() });

/** Interface: "Project". Personal projects have an owner; forks have their source. */
export const ProjectJson = z.strictObject({
  id: z.number(),
  description: z.string().nullable(),
  default_branch: z.string().nullable(),
  tag_list: z.array(z.string()),
  public: z.boolean(),
  archived: z.boolean(),
  visibility_level: z.number(),
  ssh_url_to_repo: z.string(),
  http_url_to_repo: z.string(),
  web_url: z.string(),
  owner: OwnerJson.optional(),
  name: z.string(),
  name_with_namespace: z.string(),
  path: z.string(),
  path_with_namespace: z.string(),
  issues_enabled: z.boolean(),
  merge_requests_enabled: z.boolean(),
  wiki_enabled: z.boolean(),
  builds_enabled: z.boolean(),
  snippets_enabled: z.boolean(),
  created_at: Timestamp,
  last_activity_at: Timestamp,
  shared_runners_enabled: z.boolean(),
  creator_id: z.number().nullable(),
  namespace: NamespaceJson,
  forked_from_project: z
    .strictObject({
      id: z.number(),
      name: z.string(),
      name_with_namespace: z.string(),
      path: z.string(),
      path_with_namespace: z.string(),
    })
    .optional(),
  avatar_url: z.string().nullable(),
  star_count: z.number(),
  forks_count: z.number(),
  open_issues_count: z.number().optional(),
  public_builds: z.boolean(),
  runners_token: z.string().optional(),
  /** Of single projects: how far they are being filled from elsewhere, and for their masters why that failed. */
  import_status: z.enum(['none', 'started', 'finished', 'failed']).optional(),
  import_error: z.string().nullable().optional(),
  permissions: z
    .strictObject({ project_access: AccessJson.nullable(), group_access: AccessJson.nullable() })
    .optional(),
});
type ProjectJson = z.infer<typeof ProjectJson>;

/** A project as lists of other people's things show it. */
export function presentProject(row: ProjectRow, addresses: CloneAddresses): ProjectJson {
  const fullPath = `${row.namespace_path}/${row.path}`;
  const webUrl = `${addresses.origin}/${fullPath}`;
  return {
    id: row.id,
    description: row.description,
    default_branch: row.default_branch,
    tag_list: row.tag_list,
    public: row.visibility_level === visibilityLevels.public,
    archived: row.archived,
    visibility_level: row.visibility_level,
    ssh_url_to_repo: sshUrl(fullPath, addresses),
    http_url_to_repo: `${webUrl}.git`,
    web_url: webUrl,
    ...presentOwner(row, addresses.origin),
    name: row.name,
    name_with_namespace: `${row.owner_name ?? row.namespace_name} / ${row.name}`,
    path: row.path,
    path_with_namespace: fullPath,
    issues_enabled: row.issues_enabled,
    merge_requests_enabled: row.merge_requests_enabled,
    wiki_enabled: row.wiki_enabled,
    builds_enabled: row.builds_enabled,
    snippets_enabled: row.snippets_enabled,
    created_at: presentTime(row.created_at),
    last_activity_at: presentTime(row.last_activity_at),
    shared_runners_enabled: row.shared_runners_enabled,
    creator_id: row.creator_id,
    namespace: presentNamespace(row),
    ...(row.forked_from ? { forked_from_project: row.forked_from } : {}),
    avatar_url: projectAvatar(row, webUrl),
    star_count: row.star_count,
    forks_count: row.forks_count,
    ...(row.issues_enabled ? { open_issues_count: row.open_issues_count } : {}),
    public_builds: row.public_builds,
  };
}

/** With the viewer's own levels: for single projects and the lists of one's own. */
export function presentProjectWithPermissions(row: ProjectRow, addresses: CloneAddresses): ProjectJson {
  const access = (level: number | null, notification: number | null) =>
    level === null ? null : { access_level: level, notification_level: notification ?? 3 };
  return {
    ...presentProject(row, addresses),
    permissions: {
      project_access: access(row.project_access, row.project_notification),
      group_access: access(row.group_access, row.group_notification),
    },
  };
}

function presentOwner(row: ProjectRow, origin: string): Pick<ProjectJson, 'owner'> {
  if (row.namespace_owner_id === null || !row.owner_created_at) return {};
  const owner = presentUserSummary(
    {
      id: row.namespace_owner_id,
      username: row.owner_username ?? '',
      name: row.owner_name ?? '',
      state: row.owner_state ?? 'active',
      email: row.owner_email ?? '',
      avatar: row.owner_avatar,
    },
    origin,
  );
  return { owner: { ...owner, created_at: presentTime(row.owner_created_at) } };
}

function presentNamespace(row: ProjectRow): ProjectJson['namespace'] {
  return {
    id: row.namespace_id,
    name: row.namespace_name,
    path: row.namespace_path,
    owner_id: row.namespace_owner_id,
    created_at: presentTime(row.namespace_created_at),
    updated_at: presentTime(row.namespace_updated_at),
    description: row.namespace_description,
    avatar: row.namespace_avatar === null ? null : { url: row.namespace_avatar },
    share_with_group_lock: row.namespace_share_lock,
    visibility_level: row.namespace_visibility,
  };
}
