import type { ProjectAbility } from '../../server/policy/abilities.ts';

/** Not served yet, with the project abilities that it will ask for. */
export interface Todo {
  abilities: ProjectAbility[];
}

export type Entry = 'done' | Todo;

const done = 'done';

function todo(...abilities: ProjectAbility[]): Todo {
  return { abilities };
}

/**
 * Every endpoint of the owner's interface. One row of his tables is one endpoint; the five rows of notes stand
 * for three parents each, and the six rows of the runner's own interface count like all others.
 */
export const ledger = {
  // Session and current user
  'POST /session': done,
  'GET /user': done,
  'GET /user/keys': done,
  'GET /user/keys/:id': done,
  'POST /user/keys': done,
  'DELETE /user/keys/:id': done,
  'GET /user/emails': done,
  'GET /user/emails/:id': done,
  'POST /user/emails': done,
  'DELETE /user/emails/:id': done,

  // Users
  'GET /users': done,
  'GET /users/:id': done,
  'POST /users': done,
  'PUT /users/:id': done,
  'DELETE /users/:id': done,
  'GET /users/:uid/keys': done,
  'POST /users/:id/keys': done,
  'DELETE /users/:uid/keys/:id': done,
  'GET /users/:uid/emails': done,
  'POST /users/:id/emails': done,
  'DELETE /users/:uid/emails/:id': done,
  'PUT /users/:uid/block': done,
  'PUT /users/:uid/unblock': done,

  // Groups and namespaces
  'GET /groups': done,
  'GET /groups/:id': done,
  'POST /groups': done,
  'PUT /groups/:id': done,
  'DELETE /groups/:id': done,
  'GET /groups/:id/projects': done,
  'POST /groups/:id/projects/:project_id': done,
  'GET /groups/:id/members': done,
  'POST /groups/:id/members': done,
  'PUT /groups/:id/members/:user_id': done,
  'DELETE /groups/:id/members/:user_id': done,
  'GET /namespaces': done,

  // Projects
  'GET /projects': done,
  'GET /projects/owned': done,
  'GET /projects/starred': done,
  'GET /projects/all': done,
  'GET /projects/:id': done,
  'GET /projects/:id/events': done,
  'POST /projects': done,
  'POST /projects/user/:user_id': done,
  'PUT /projects/:id': done,
  'POST /projects/fork/:id': done,
  'POST /projects/:id/star': done,
  'DELETE /projects/:id/star': done,

  // Repository
  'GET /projects/:id/repository/tree': done,
  'GET /projects/:id/repository/blobs/:sha': done,
  'GET /projects/:id/repository/raw_blobs/:sha': done,
  'GET /projects/:id/repository/archive': done,
  'GET /projects/:id/repository/compare': done,
  'GET /projects/:id/repository/contributors': done,
  'GET /projects/:id/repository/branches': done,
  'GET /projects/:id/repository/branches/:branch': done,
  'PUT /projects/:id/repository/branches/:branch/protect': done,
  'PUT /projects/:id/repository/branches/:branch/unprotect': done,
  'POST /projects/:id/repository/branches': done,
  'DELETE /projects/:id/repository/branches/:branch': done,
  'GET /projects/:id/repository/tags': done,
  'GET /projects/:id/repository/tags/:tag_name': done,
  'POST /projects/:id/repository/tags': done,
  'DELETE /projects/:id/repository/tags/:tag_name': done,
  'POST /projects/:id/repository/tags/:tag_name/release': done,
  'PUT /projects/:id/repository/tags/:tag_name/release': done,
  'GET /projects/:id/repository/files': done,
  'POST /projects/:id/repository/files': done,
  'PUT /projects/:id/repository/files': done,
  'DELETE /projects/:id/repository/files': done,

  // Commits and statuses
  'GET /projects/:id/repository/commits': done,
  'GET /projects/:id/repository/commits/:sha': done,
  'GET /projects/:id/repository/commits/:sha/diff': done,
  'GET /projects/:id/repository/commits/:sha/comments': done,
  'POST /projects/:id/repository/commits/:sha/comments': done,
  'GET /projects/:id/repository/commits/:sha/statuses': done,
  'POST /projects/:id/statuses/:sha': done,
  'GET /projects/:id/repository/commits/:sha/builds': done,

  // Issues
  'GET /issues': done,
  'GET /projects/:id/issues': done,
  'GET /projects/:id/issues/:issue_id': done,
  'POST /projects/:id/issues': done,
  'PUT /projects/:id/issues/:issue_id': done,
  'DELETE /projects/:id/issues/:issue_id': done,
  'POST /projects/:id/issues/:issue_id/move': done,
  'POST /projects/:id/issues/:issue_id/subscription': done,
  'DELETE /projects/:id/issues/:issue_id/subscription': done,

  // Merge requests
  'GET /projects/:id/merge_requests': todo('read_merge_request'),
  'GET /projects/:id/merge_requests/:merge_request_id': todo('read_merge_request'),
  'GET /projects/:id/merge_requests/:merge_request_id/commits': todo('read_merge_request'),
  'GET /projects/:id/merge_requests/:merge_request_id/changes': todo('read_merge_request'),
  'POST /projects/:id/merge_requests': todo('create_merge_request', 'admin_merge_request'),
  'PUT /projects/:id/merge_requests/:merge_request_id': todo('admin_merge_request', 'accept_merge_request'),
  'DELETE /projects/:id/merge_requests/:merge_request_id': todo('own_project'),
  'PUT /projects/:id/merge_requests/:merge_request_id/merge': todo('accept_merge_request'),
  'PUT /projects/:id/merge_requests/:merge_request_id/cancel_merge_when_build_succeeds':
    todo('accept_merge_request'),
  'GET /projects/:id/merge_requests/:merge_request_id/closes_issues': todo('read_merge_request'),

  // Milestones
  'GET /projects/:id/milestones': done,
  'GET /projects/:id/milestones/:milestone_id': done,
  'POST /projects/:id/milestones': done,
  'PUT /projects/:id/milestones/:milestone_id': done,
  'GET /projects/:id/milestones/:milestone_id/issues': done,

  // Labels
  'GET /projects/:id/labels': done,
  'POST /projects/:id/labels': done,
  'DELETE /projects/:id/labels': done,
  'PUT /projects/:id/labels': done,
  'POST /projects/:id/labels/:label_id/subscription': done,
  'DELETE /projects/:id/labels/:label_id/subscription': done,

  // Notes
  'GET /projects/:id/issues/:issue_id/notes': todo('read_issue'),
  'GET /projects/:id/issues/:issue_id/notes/:note_id': todo('read_issue'),
  'POST /projects/:id/issues/:issue_id/notes': todo('create_note'),
  'PUT /projects/:id/issues/:issue_id/notes/:note_id': todo('admin_note'),
  'DELETE /projects/:id/issues/:issue_id/notes/:note_id': todo('admin_note'),
  'GET /projects/:id/snippets/:snippet_id/notes': todo('read_snippet'),
  'GET /projects/:id/snippets/:snippet_id/notes/:note_id': todo('read_snippet'),
  'POST /projects/:id/snippets/:snippet_id/notes': todo('create_note'),
  'PUT /projects/:id/snippets/:snippet_id/notes/:note_id': todo('admin_note'),
  'DELETE /projects/:id/snippets/:snippet_id/notes/:note_id': todo('admin_note'),
  'GET /projects/:id/merge_requests/:merge_request_id/notes': todo('read_merge_request'),
  'GET /projects/:id/merge_requests/:merge_request_id/notes/:note_id': todo('read_merge_request'),
  'POST /projects/:id/merge_requests/:merge_request_id/notes': todo('create_note'),
  'PUT /projects/:id/merge_requests/:merge_request_id/notes/:note_id': todo('admin_note'),
  'DELETE /projects/:id/merge_requests/:merge_request_id/notes/:note_id': todo('admin_note'),

  // Snippets
  'GET /projects/:id/snippets': done,
  'GET /projects/:id/snippets/:snippet_id': done,
  'POST /projects/:id/snippets': done,
  'PUT /projects/:id/snippets/:snippet_id': done,
  'DELETE /projects/:id/snippets/:snippet_id': done,
  'GET /projects/:id/snippets/:snippet_id/raw': done,

  // Builds
  'GET /projects/:id/builds': done,
  'GET /projects/:id/builds/:build_id': done,
  'GET /projects/:id/builds/:build_id/artifacts': done,
  'POST /projects/:id/builds/:build_id/cancel': done,
  'POST /projects/:id/builds/:build_id/retry': done,
  'POST /projects/:id/builds/:build_id/erase': done,

  // Build variables and triggers
  'GET /projects/:id/variables': done,
  'GET /projects/:id/variables/:key': done,
  'POST /projects/:id/variables': done,
  'PUT /projects/:id/variables/:key': done,
  'DELETE /projects/:id/variables/:key': done,
  'GET /projects/:id/triggers': done,
  'GET /projects/:id/triggers/:token': done,
  'POST /projects/:id/triggers': done,
  'DELETE /projects/:id/triggers/:token': done,

  // Runners
  'GET /runners': done,
  'GET /runners/all': done,
  'GET /runners/:id': done,
  'PUT /runners/:id': done,
  'DELETE /runners/:id': done,
  'GET /projects/:id/runners': done,
  'POST /projects/:id/runners': done,
  'DELETE /projects/:id/runners/:runner_id': done,

  // The runner's own interface
  'POST /ci/api/v1/builds/register': done,
  'PUT /ci/api/v1/builds/:id': done,
  'PATCH /ci/api/v1/builds/:id/trace.txt': done,
  'POST /ci/api/v1/builds/:id/artifacts': done,
  'GET /ci/api/v1/builds/:id/artifacts': done,
  'DELETE /ci/api/v1/builds/:id/artifacts': done,

  // Hooks, settings, licenses
  'GET /hooks': done,
  'POST /hooks': done,
  'GET /hooks/:id': done,
  'DELETE /hooks/:id': done,
  'GET /application/settings': done,
  'PUT /application/settings': done,
  'GET /licenses': done,
  'GET /licenses/:key': done,
} satisfies Record<string, Entry>;

/** Served although the interface does not list it, because clients that exist need it. */
export const beyond: Record<string, Entry> = {
  'GET /applications': done,
  'POST /applications': done,
  'DELETE /applications/:id': done,
  'GET /user/applications': done,
  'POST /user/applications': done,
  'DELETE /user/applications/:id': done,
  'GET /keys/:id': done,
  'GET /projects/:id/keys': done,
  'GET /projects/:id/keys/:key_id': done,
  'POST /projects/:id/keys': done,
  'DELETE /projects/:id/keys/:key_id': done,
  'POST /projects/:id/keys/:key_id/enable': done,
  'DELETE /projects/:id/keys/:key_id/disable': done,
  'GET /projects/:id/deploy_keys': done,
  'GET /projects/:id/deploy_keys/:key_id': done,
  'POST /projects/:id/deploy_keys': done,
  'DELETE /projects/:id/deploy_keys/:key_id': done,
  'POST /projects/:id/deploy_keys/:key_id/enable': done,
  'DELETE /projects/:id/deploy_keys/:key_id/disable': done,
  'POST /projects/:id/fork/:forked_from_id': done,
  'DELETE /projects/:id/fork': done,
  'POST /projects/:id/repository/commits': done,
  'GET /projects/:id/repository/archive.:format': done,
  'GET /projects/:id/repository/commits/*sha/blob': done,
  'GET /projects/:id/builds/:build_id/trace': done,
  'POST /projects/:id/builds/:build_id/artifacts/keep': done,
  'GET /projects/:id/builds/artifacts/*ref/download': done,
  'POST /projects/:id/builds/:build_id/play': done,
  'GET /projects/:id/pipelines': done,
  'GET /projects/:id/pipelines/:pipeline_id': done,
  'POST /projects/:id/pipelines/:pipeline_id/retry': done,
  'POST /projects/:id/pipelines/:pipeline_id/cancel': done,
  'POST /projects/:id/trigger/builds': done,
  'GET /projects/:id/hooks': done,
  'GET /projects/:id/hooks/:hook_id': done,
  'POST /projects/:id/hooks': done,
  'PUT /projects/:id/hooks/:hook_id': done,
  'DELETE /projects/:id/hooks/:hook_id': done,
  'GET /projects/:id/hooks/:hook_id/deliveries': done,
  'GET /hooks/:id/deliveries': done,
  'POST /ci/lint': done,
  'POST /ci/api/v1/projects/:id/refs/:ref/trigger': done,
  'POST /ci/api/v1/runners/register': done,
  'DELETE /ci/api/v1/runners/delete': done,
  'GET /broadcast_messages': done,
  'GET /broadcast_messages/:id': done,
  'POST /broadcast_messages': done,
  'PUT /broadcast_messages/:id': done,
  'DELETE /broadcast_messages/:id': done,
  'DELETE /projects/:id': done,
  'GET /projects/search/:query': done,
  'GET /projects/:id/users': done,
  'POST /projects/:id/archive': done,
  'POST /projects/:id/unarchive': done,
  'GET /notification_settings': done,
  'PUT /notification_settings': done,
  'GET /projects/:id/notification_settings': done,
  'PUT /projects/:id/notification_settings': done,
  'GET /groups/:id/notification_settings': done,
  'PUT /groups/:id/notification_settings': done,
  'POST /projects/:id/uploads': done,
  'GET /projects/:id/members': done,
  'GET /projects/:id/members/:user_id': done,
  'POST /projects/:id/members': done,
  'PUT /projects/:id/members/:user_id': done,
  'DELETE /projects/:id/members/:user_id': done,
  'GET /snippets': done,
  'GET /snippets/:id': done,
  'GET /snippets/:id/raw': done,
  'POST /snippets': done,
  'PUT /snippets/:id': done,
  'DELETE /snippets/:id': done,
  'POST /projects/:id/share': done,
  'DELETE /projects/:id/share/:group_id': done,
};
