/** Every migration in the order they run. One that has run anywhere is never edited. */
export const migrationNames = [
  '20261127-first-tables',
  '20261128-external-statuses',
  '20261128-former-values',
  '20261128-manual-jobs',
  '20261128-variables-and-triggers',
  '20261128-working-servers',
  '20261129-settings',
  '20261129-stars-and-searches',
  '20261129-namespace-removal',
  '20261129-uploads-and-messages',
  '20261129-keys-and-emails',
  '20261129-oauth-and-sessions',
  '20261129-imports-of-projects',
  '20261129-hooks',
  '20261129-order-of-deliveries',
  '20261130-protected-branches',
  '20261130-authors-without-keys',
  '20261130-dropped-messages',
  '20261130-repository-care',
  '20261130-notes',
  '20261201-issues-and-merge-requests',
  '20261202-sources-of-notes',
  '20261202-restored-source-branches',
  '20261203-index-of-source-projects',
  '20261204-sources-of-closings',
  '20261205-project-logos',
  '20261206-votes-among-comments',
] as const;

/** Where the database says which of them it has had. */
export const migrationsTable = 'schema_migrations';
