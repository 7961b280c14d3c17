import type { EntityManager } from '@mikro-orm/postgresql';
import { AppError, notFound } from '../errors.ts';
import { userById } from '../queries/user-row.ts';

/** @throws AppError 404 when there is no such user. */
export async function requireUser(em: EntityManager, id: number): Promise<void> {
  if (!(await userById(em, id))) throw notFound('User');
}

/** Two rows of the interface tell what is wrong with a value by 404. What is missing stays a 400. */
export async function failingAsNotFound<T>(run: Promise<T>): Promise<T> {
  try {
    return await run;
  } catch (error) {
    const isFault = error instanceof AppError && error.status === 400 && typeof error.body !== 'string';
    throw isFault ? new AppError({ status: 404, message: error.body }) : error;
  }
}
