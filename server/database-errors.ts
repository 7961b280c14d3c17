import { ConnectionException, DriverException } from '@mikro-orm/core';
import pg from 'pg';
import { isDiskFull } from './disk-full.ts';
import { type AppError, diskFull, invalid, notFound, unavailable } from './errors.ts';

/** Which attribute a violated unique constraint is about, and what is said of it. */
const uniqueAttributes: Record<string, string[]> = {
  users_username_key: ['username'],
  users_email_key: ['email'],
  namespaces_path_key: ['path'],
  namespaces_group_name_key: ['name'],
  projects_namespace_path_key: ['name', 'path'],
  projects_namespace_name_key: ['name', 'path'],
  ci_variables_project_id_key_key: ['key'],
  labels_project_id_title_key: ['title'],
  milestones_project_id_title_key: ['title'],
};

/** Classes of SQLSTATE with which PostgreSQL says that it is going away, starting, or full. */
const passingClasses = new Set(['08', '53', '57']);

/**
 * What an error of the database means for the caller, or one of the disk, where the database is among those that
 * need room.
 *
 * @returns null when it is none, or is a fault of ours.
 */
export function translateDatabaseError(error: unknown): AppError | null {
  if (isDiskFull(error)) return diskFull(error);
  if (error instanceof DatabaseAway || error instanceof ConnectionException) return unavailable(error);
  const code = sqlState(error);
  if (code === '23505') return uniqueViolation(constraintOf(error));
  // Whom or what the new row names was removed after the request had found it.
  if (code === '23503') return notFound();
  // Two requests waited for each other: this one was given up, and can be repeated.
  if (code === '40P01') return unavailable(error);
  if (code && passingClasses.has(code.slice(0, 2))) return unavailable(error);
  return error instanceof DriverException && !code ? unavailable(error) : null;
}

/** The connection broke, or none could be had: the statement may or may not have been carried out. */
export class DatabaseAway extends Error {
  constructor(cause: unknown) {
    super('the database does not answer', { cause });
    this.name = 'DatabaseAway';
  }
}

/** Keeps what PostgreSQL itself answered; everything else that a connection throws means that it is gone. */
export function asDatabaseError(error: unknown): unknown {
  return error instanceof pg.DatabaseError ? error : new DatabaseAway(error);
}

const lossCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENOTFOUND',
]);
/** The query builder puts the statement in front of them. */
const lossTexts =
  /(?:^| - )(?:Connection terminated|Client (?:has encountered a connection error|was closed)|Knex: Timeout|timeout e)/;

/**
 * What went wrong at the begin or the end of a transaction, where nobody in between has a name for it. A
 * connection that is gone becomes DatabaseAway.
 */
export function asTransactionError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DriverException) return error;
  const { code } = error as NodeJS.ErrnoException;
  const isLoss = lossTexts.test(error.message) || (code !== undefined && lossCodes.has(code));
  return isLoss ? new DatabaseAway(error) : error;
}

/** Whether PostgreSQL refused a row for the sake of this constraint or index. */
export function isConstraint(error: unknown, name: string): boolean {
  return sqlState(error) === '23505' && constraintOf(error) === name;
}

function uniqueViolation(constraint: string | undefined): AppError | null {
  const attributes = constraint ? uniqueAttributes[constraint] : undefined;
  if (!attributes) return null;
  return invalid(Object.fromEntries(attributes.map((name) => [name, ['has already been taken']])));
}

function sqlState(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  // Each has a digit, which the names of the system's errors have not: EPIPE is as long.
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : null;
}

function constraintOf(error: unknown): string | undefined {
  return (error as { constraint?: string }).constraint;
}
