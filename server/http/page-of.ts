import { PageAnswer } from './answers.ts';
import type { PageRequest } from './paginate.ts';

/** A page of a list that is held as a whole. */
export function pageOf<T>(items: readonly T[], { page, perPage }: PageRequest): PageAnswer<T> {
  const start = (page - 1) * perPage;
  return new PageAnswer(items.slice(start, start + perPage), items.length);
}
