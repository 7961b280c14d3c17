import { FirstTables } from './20261127-first-tables.ts';

/** In the order they run. A migration that has run anywhere is never edited. */
export const migrations = [{ name: '20261127-first-tables', class: FirstTables }];
