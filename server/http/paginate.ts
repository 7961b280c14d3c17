import type { EntityManager } from '@mikro-orm/postgresql';
import type { ListQuery } from '../queries/list-query.ts';
import { sql } from '../sql.ts';
import { PageAnswer } from './answers.ts';

export interface PageRequest {
  page: number;
  perPage: number;
}

/** Runs a list: one statement for the rows of the page and one for their number. */
export async function paginate<Row>(
  em: EntityManager,
  query: ListQuery,
  { page, perPage }: PageRequest,
): Promise<PageAnswer<Row>> {
  const { columns, from, order, values } = query;
  const next = values.length + 1;
  const text = `select ${columns} from ${from} order by ${order} limit $${next} offset $${next + 1}`;
  const [rows, counts] = await Promise.all([
    sql<Row>(em, text, [...values, perPage, (page - 1) * perPage]),
    sql<{ total: number }>(
      em,
      `select count(*)::int as total from ${query.countFrom ?? from}`,
      query.countValues ?? values,
    ),
  ]);
  return new PageAnswer(rows, counts[0]?.total ?? 0);
}

export interface PageLinks {
  request: PageRequest;
  total: number;
  /** Address of the request without its query. */
  url: string;
  /** Parameters of the request; those that carry credentials are left out of the links. */
  query: Record<string, unknown>;
}

const credentials = new Set(['private_token', 'access_token', 'sudo', 'token', 'password']);

/** Headers of a page, interface: "Limits". */
export function pageHeaders({ request, total, url, query }: PageLinks): Record<string, string> {
  const { page, perPage } = request;
  const pages = Math.ceil(total / perPage);
  const last = Math.max(pages, 1);
  const link = (to: number, rel: string) => `<${pageUrl(url, query, { page: to, perPage })}>; rel="${rel}"`;
  const links = [link(1, 'first'), link(last, 'last')];
  if (page < pages) links.unshift(link(page + 1, 'next'));
  if (page > 1) links.unshift(link(Math.min(page - 1, last), 'prev'));
  return {
    Link: links.join(', '),
    'X-Total': String(total),
    'X-Total-Pages': String(pages),
    'X-Per-Page': String(perPage),
    'X-Page': String(page),
    'X-Next-Page': page < pages ? String(page + 1) : '',
    'X-Prev-Page': page > 1 ? String(Math.min(page - 1, last)) : '',
  };
}

function pageUrl(url: string, query: Record<string, unknown>, { page, perPage }: PageRequest): string {
  const pairs: [string, string][] = [
    ['page', String(page)],
    ['per_page', String(perPage)],
  ];
  for (const [key, value] of Object.entries(query)) {
    if (key === 'page' || key === 'per_page' || credentials.has(key)) continue;
    if (Array.isArray(value)) for (const item of value) pairs.push([`${key}[]`, String(item)]);
    else if (typeof value === 'string') pairs.push([key, value]);
  }
  pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `${url}?${new URLSearchParams(pairs)}`;
}
