import type { MigrationObject } from '@mikro-orm/core';
import { FirstTables } from './20261127-first-tables.ts';
import { ExternalStatuses } from './20261128-external-statuses.ts';
import { FormerValues } from './20261128-former-values.ts';
import { ManualJobs } from './20261128-manual-jobs.ts';
import { VariablesAndTriggers } from './20261128-variables-and-triggers.ts';
import { WorkingServers } from './20261128-working-servers.ts';
import { Hooks } from './20261129-hooks.ts';
import { ImportsOfProjects } from './20261129-imports-of-projects.ts';
import { KeysAndEmails } from './20261129-keys-and-emails.ts';
import { NamespaceRemoval } from './20261129-namespace-removal.ts';
import { OauthAndSessions } from './20261129-oauth-and-sessions.ts';
import { OrderOfDeliveries } from './20261129-order-of-deliveries.ts';
import { AllSettings } from './20261129-settings.ts';
import { StarsAndSearches } from './20261129-stars-and-searches.ts';
import { UploadsAndMessages } from './20261129-uploads-and-messages.ts';
import { AuthorsWithoutKeys } from './20261130-authors-without-keys.ts';
import { DroppedMessages } from './20261130-dropped-messages.ts';
import { Notes } from './20261130-notes.ts';
import { ProtectedBranches } from './20261130-protected-branches.ts';
import { RepositoryCare } from './20261130-repository-care.ts';
import { IssuesAndMergeRequests } from './20261201-issues-and-merge-requests.ts';
import { RestoredSourceBranches } from './20261202-restored-source-branches.ts';
import { SourcesOfNotes } from './20261202-sources-of-notes.ts';
import { IndexOfSourceProjects } from './20261203-index-of-source-projects.ts';
import { SourcesOfClosings } from './20261204-sources-of-closings.ts';
import { ProjectLogos } from './20261205-project-logos.ts';
import { VotesAmongComments } from './20261206-votes-among-comments.ts';
import { migrationNames } from './names.ts';

const classes: Record<(typeof migrationNames)[number], MigrationObject['class']> = {
  '20261127-first-tables': FirstTables,
  '20261128-external-statuses': ExternalStatuses,
  '20261128-former-values': FormerValues,
  '20261128-manual-jobs': ManualJobs,
  '20261128-variables-and-triggers': VariablesAndTriggers,
  '20261128-working-servers': WorkingServers,
  '20261129-settings': AllSettings,
  '20261129-stars-and-searches': StarsAndSearches,
  '20261129-namespace-removal': NamespaceRemoval,
  '20261129-uploads-and-messages': UploadsAndMessages,
  '20261129-keys-and-emails': KeysAndEmails,
  '20261129-oauth-and-sessions': OauthAndSessions,
  '20261129-imports-of-projects': ImportsOfProjects,
  '20261129-hooks': Hooks,
  '20261129-order-of-deliveries': OrderOfDeliveries,
  '20261130-protected-branches': ProtectedBranches,
  '20261130-authors-without-keys': AuthorsWithoutKeys,
  '20261130-dropped-messages': DroppedMessages,
  '20261130-repository-care': RepositoryCare,
  '20261130-notes': Notes,
  '20261201-issues-and-merge-requests': IssuesAndMergeRequests,
  '20261202-sources-of-notes': SourcesOfNotes,
  '20261202-restored-source-branches': RestoredSourceBranches,
  '20261203-index-of-source-projects': IndexOfSourceProjects,
  '20261204-sources-of-closings': SourcesOfClosings,
  '20261205-project-logos': ProjectLogos,
  '20261206-votes-among-comments': VotesAmongComments,
};

export const migrations: MigrationObject[] = migrationNames.map((name) => ({ name, class: classes[name] }));
