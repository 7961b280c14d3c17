import type { Endpoint } from '../http/endpoint.ts';
import * as applications from './applications.ts';
import * as branches from './branches.ts';
import * as broadcastMessages from './broadcast-messages.ts';
import * as buildActions from './build-actions.ts';
import * as builds from './builds.ts';
import * as commitComments from './commit-comments.ts';
import * as commitCreate from './commit-create.ts';
import * as commits from './commits.ts';
import * as compare from './compare.ts';
import * as contributors from './contributors.ts';
import * as deployKeys from './deploy-keys.ts';
import * as fileChanges from './file-changes.ts';
import * as groupMembers from './group-members.ts';
import * as groups from './groups.ts';
import * as issueActions from './issue-actions.ts';
import * as issues from './issues.ts';
import * as keys from './keys.ts';
import * as labels from './labels.ts';
import * as licenses from './licenses.ts';
import * as lint from './lint.ts';
import * as mergeRequestAccept from './merge-request-accept.ts';
import * as mergeRequestChanges from './merge-request-changes.ts';
import * as mergeRequestCloses from './merge-request-closes.ts';
import * as mergeRequestComments from './merge-request-comments.ts';
import * as mergeRequestSubscription from './merge-request-subscription.ts';
import * as mergeRequests from './merge-requests.ts';
import * as milestones from './milestones.ts';
import * as namespaces from './namespaces.ts';
import * as notes from './notes.ts';
import * as notificationSettings from './notification-settings.ts';
import * as personalSnippets from './personal-snippets.ts';
import * as pipelines from './pipelines.ts';
import * as projectArchive from './project-archive.ts';
import * as projectCreate from './project-create.ts';
import * as projectEvents from './project-events.ts';
import * as projectForks from './project-forks.ts';
import * as projectHooks from './project-hooks.ts';
import * as projectLists from './project-lists.ts';
import * as projectMembers from './project-members.ts';
import * as projectShares from './project-shares.ts';
import * as projectStars from './project-stars.ts';
import * as projects from './projects.ts';
import * as releases from './releases.ts';
import * as repositoryArchive from './repository-archive.ts';
import * as repositoryBlobs from './repository-blobs.ts';
import * as repositoryFiles from './repository-files.ts';
import * as repositoryTree from './repository-tree.ts';
import * as runners from './runners.ts';
import * as session from './session.ts';
import * as settings from './settings.ts';
import * as snippets from './snippets.ts';
import * as statuses from './statuses.ts';
import * as systemHooks from './system-hooks.ts';
import * as tags from './tags.ts';
import * as triggers from './triggers.ts';
import * as uploads from './uploads.ts';
import * as userChanges from './user-changes.ts';
import * as userEmails from './user-emails.ts';
import * as userKeys from './user-keys.ts';
import * as users from './users.ts';
import * as variables from './variables.ts';

/** The consumer's interface, below `/api/v3`. A resource's file is listed here once. */
export const apiEndpoints: readonly Endpoint[] = [
  ...session.endpoints,
  ...applications.endpoints,
  ...users.endpoints,
  ...userChanges.endpoints,
  ...userKeys.endpoints,
  ...userEmails.endpoints,
  ...keys.endpoints,
  ...deployKeys.endpoints,
  ...groups.endpoints,
  ...groupMembers.endpoints,
  ...namespaces.endpoints,
  ...projectLists.endpoints,
  ...projects.endpoints,
  ...projectMembers.endpoints,
  ...projectShares.endpoints,
  ...projectArchive.endpoints,
  ...projectEvents.endpoints,
  ...projectStars.endpoints,
  ...projectCreate.endpoints,
  ...projectForks.endpoints,
  ...milestones.endpoints,
  ...labels.endpoints,
  ...mergeRequests.endpoints,
  ...mergeRequestChanges.endpoints,
  ...mergeRequestCloses.endpoints,
  ...mergeRequestSubscription.endpoints,
  ...mergeRequestComments.endpoints,
  ...snippets.endpoints,
  ...personalSnippets.endpoints,
  ...issues.endpoints,
  ...issueActions.endpoints,
  ...fileChanges.endpoints,
  ...commitCreate.endpoints,
  ...branches.endpoints,
  ...tags.endpoints,
  ...releases.endpoints,
  ...repositoryTree.endpoints,
  ...repositoryBlobs.endpoints,
  ...repositoryArchive.endpoints,
  ...repositoryFiles.endpoints,
  ...builds.endpoints,
  ...buildActions.endpoints,
  ...pipelines.endpoints,
  ...statuses.endpoints,
  ...commitComments.endpoints,
  // After everything else below a commit: names of branches may have slashes.
  ...commits.endpoints,
  ...compare.endpoints,
  ...contributors.endpoints,
  ...runners.endpoints,
  ...variables.endpoints,
  ...triggers.endpoints,
  ...mergeRequestAccept.endpoints,
  ...lint.endpoints,
  ...projectHooks.endpoints,
  ...systemHooks.endpoints,
  ...uploads.endpoints,
  ...settings.endpoints,
  ...licenses.endpoints,
  ...broadcastMessages.endpoints,
  ...notes.endpoints,
  ...notificationSettings.endpoints,
];
