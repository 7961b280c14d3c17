import { FirstTables } from './20261127-first-tables.ts';
import { ExternalStatuses } from './20261128-external-statuses.ts';
import { FormerValues } from './20261128-former-values.ts';
import { ManualJobs } from './20261128-manual-jobs.ts';
import { VariablesAndTriggers } from './20261128-variables-and-triggers.ts';
import { WorkingServers } from './20261128-working-servers.ts';

/** In the order they run. A migration that has run anywhere is never edited. */
export const migrations = [
  { name: '20261127-first-tables', class: FirstTables },
  { name: '20261128-external-statuses', class: ExternalStatuses },
  { name: '20261128-former-values', class: FormerValues },
  { name: '20261128-manual-jobs', class: ManualJobs },
  { name: '20261128-variables-and-triggers', class: VariablesAndTriggers },
  { name: '20261128-working-servers', class: WorkingServers },
];
