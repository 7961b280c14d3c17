import { FirstTables } from './20261127-first-tables.ts';
import { ExternalStatuses } from './20261128-external-statuses.ts';
<<<<<<< HEAD
import { FormerValues } from './20261128-former-values.ts';
=======
import { ManualJobs } from './20261128-manual-jobs.ts';
>>>>>>> 3c73021133f2353bd09b5a8f0c6e873dddc9d385
import { VariablesAndTriggers } from './20261128-variables-and-triggers.ts';
import { WorkingServers } from './20261128-working-servers.ts';

/** In the order they run. A migration that has run anywhere is never edited. */
export const migrations = [
  { name: '20261127-first-tables', class: FirstTables },
  { name: '20261128-external-statuses', class: ExternalStatuses },
<<<<<<< HEAD
  { name: '20261128-former-values', class: FormerValues },
=======
  { name: '20261128-manual-jobs', class: ManualJobs },
>>>>>>> 3c73021133f2353bd09b5a8f0c6e873dddc9d385
  { name: '20261128-variables-and-triggers', class: VariablesAndTriggers },
  { name: '20261128-working-servers', class: WorkingServers },
];
