import type { EntityManager } from '@mikro-orm/postgresql';
import type { ListQuery, PageIndex } from '../queries/list-query.ts';
import { sql } from '../sql.ts';
import { PageAnswer } from './answers.ts';

export interface PageRequest {
  page: number;
  perPage: number;
}

/** Rows that may be passed over without looking whether the way from the end is shorter. */
const shortWay = 5000;

/** Runs a list: one statement for the rows of the page and one for their number. */
export async function paginate<Row>(
  em: EntityManager,
  query: ListQuery,
  { page, perPage }: PageRequest,
): Promise<PageAnswer<Row>> {
  const offset = (page - 1) * perPage;
  const { index } = query;
  if (index && offset > shortWay) return paginateFar(em, { ...query, index }, { offset, limit: perPage });
  const [rows, total] = await Promise.all([
    readRows<Row>(em, query, { offset, limit: perPage, isBackwards: false }),
    countRows(em, query),
  ]);
  return new PageAnswer(rows, total);
}

async function paginateFar<Row>(
  em: EntityManager,
  query: ListQuery & { index: PageIndex },
  { offset, limit }: Omit<Stretch, 'isBackwards'>,
): Promise<PageAnswer<Row>> {
  const total = await countRows(em, query);
  const behind = total - offset - limit;
  const stretch =
    behind < offset
      ? { offset: Math.max(0, behind), limit: Math.min(limit, total - offset), isBackwards: true }
      : { offset, limit, isBackwards: false };
  const rows = stretch.limit > 0 ? await readRows<Row>(em, query, stretch) : [];
  return new PageAnswer(rows, total);
}

interface Stretch {
  offset: number;
  limit: number;
  /** Counted from the end. */
  isBackwards: boolean;
}

function readRows<Row>(
  em: EntityManager,
  { columns, from, order, values, index }: ListQuery,
  { offset, limit, isBackwards }: Stretch,
): Promise<Row[]> {
  const stretch = `limit $${values.length + 1} offset $${values.length + 2}`;
  const found = index
    ? `${from} where ${index.key} in (select ${index.key} from ${index.from}
        order by ${isBackwards ? index.backwards : order} ${stretch}) order by ${order}`
    : `${from} order by ${order} ${stretch}`;
  return sql<Row>(em, `select ${columns} from ${found}`, [...values, limit, offset]);
}

async function countRows(
  em: EntityManager,
  { from, values, countFrom, countValues, countAs }: ListQuery,
): Promise<number> {
  const text = `select (${countAs ?? 'count(*)'})::int as total from ${countFrom ?? from}`;
  const [row] = await sql<{ total: number }>(em, text, countValues ?? values);
  return row?.total ?? 0;
}

export interface PageLinks {
  request: PageRequest;
  total: number;
  /** Address of the request without its query. */
  url: string;
  /** Parameters of the request; those that carry credentials are left out of the links. */
  query: Record<string, unknown>;
}

const credentials = new Set(['private_token', 'access_token', 'bearer_token', 'sudo', 'token', 'password']);

/** Headers of a page, interface: "Limits". */
export function pageHeaders({ request, total, url, query }: PageLinks): Record<string, string> {
  const { page, perPage } = request;
  const pages = Math.ceil(total / perPage);
  const last = Math.max(pages, 1);
  const { start, end } = aroundPage(url, query, perPage);
  const link = (to: number, rel: string) => `<${start}${to}${end}>; rel="${rel}"`;
  const links = [link(1, 'first'), link(last, 'last')];
  if (page < pages) links.unshift(link(page + 1, 'next'));
  if (page > 1) links.unshift(link(Math.min(page - 1, last), 'prev'));
  const text = links.join(', ');
  return {
    // Many clients read no answer with longer headers; the numbers below say the same.
    ...(text.length <= longestLinks ? { Link: text } : {}),
    'X-Total': String(total),
    'X-Total-Pages': String(pages),
    'X-Per-Page': String(perPage),
    'X-Page': String(page),
    'X-Next-Page': page < pages ? String(page + 1) : '',
    'X-Prev-Page': page > 1 ? String(Math.min(page - 1, last)) : '',
  };
}

/** Characters, which is half of what clients take for all headers. */
const longestLinks = 8192;

/** Address of a page, in front of its number and behind it: the pages of a list differ in nothing else. */
function aroundPage(
  url: string,
  query: Record<string, unknown>,
  perPage: number,
): { start: string; end: string } {
  const pairs: [string, string][] = [['per_page', String(perPage)]];
  for (const [key, value] of Object.entries(query)) {
    if (key === 'page' || key === 'per_page' || credentials.has(key)) continue;
    const items: unknown[] = Array.isArray(value) ? value : [];
    for (const item of items) if (typeof item === 'string') pairs.push([`${key}[]`, item]);
    if (typeof value === 'string') pairs.push([key, value]);
  }
  pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const before = pairs.filter(([key]) => key < 'page');
  const text = before.length > 0 ? `${new URLSearchParams(before)}&` : '';
  return { start: `${url}?${text}page=`, end: `&${new URLSearchParams(pairs.slice(before.length))}` };
}
