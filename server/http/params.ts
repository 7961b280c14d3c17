import { z } from 'zod';
import { badRequest, invalid, missing, notFound } from '../errors.ts';
import type { ListNames } from './query-string.ts';

/** How one parameter is read. `read` gets the raw value (never absent or blank unless `keepBlank`). */
export interface Param<T> {
  required: boolean;
  /** Name of another parameter that does instead of this one: one of the two has to be there. */
  substitute?: string;
  /** True where an empty text means something, such as clearing all labels. */
  keepBlank: boolean;
  /** Whether the same name may come several times in a query or form, each with a value. */
  list: boolean;
  place: 'path' | 'any';
  /** For the OpenAPI document. */
  schema: z.ZodType;
  /** @throws AppError when the value cannot be understood. */
  read(raw: unknown, name: string): T;
}

export type Params = Record<string, Param<unknown>>;
export type Values<P extends Params> = { [K in keyof P]: P[K] extends Param<infer T> ? T : never };

/** Largest id: the columns are 32-bit integers. */
export const maxId = 2_147_483_647;

function param<T>(schema: z.ZodType, read: Param<T>['read']): Param<T> {
  return { required: true, keepBlank: false, list: false, place: 'any', schema, read };
}

/** The same parameter, but it may be left out. */
export function optional<T>(inner: Param<T>): Param<T | undefined> {
  return { ...inner, required: false };
}

/** The same parameter, but another one may come in its place; without both, this one is missing. */
export function unlessGiven<T>(other: string, inner: Param<T>): Param<T | undefined> {
  return { ...inner, required: false, substitute: other };
}

/** Any text up to `max` characters. Numbers and booleans are taken as written. */
export function text({ max = 65_536 }: { max?: number } = {}): Param<string> {
  return param(z.string().max(max), (raw, name) => {
    const value = scalar(raw, name);
    if (value.length > max) throw invalid({ [name]: [`is too long (maximum is ${max} characters)`] });
    return value;
  });
}

/** Any text as it came, blank or with NUL: what is not stored as a text of the database. */
export function rawText(): Param<string> {
  const read: Param<string>['read'] = (raw, name) => {
    if (typeof raw !== 'string') throw invalid({ [name]: ['is invalid'] });
    return raw;
  };
  return { ...param(z.string(), read), keepBlank: true };
}

/** A whole number in `[min, max]`. */
export function integer({ min = 0, max = maxId }: { min?: number; max?: number } = {}): Param<number> {
  return param(z.number().int(), (raw, name) => {
    const value = scalar(raw, name).trim();
    if (!/^-?\d{1,15}$/.test(value)) throw invalid({ [name]: ['is not a number'] });
    const number = Number(value);
    if (number < min) throw invalid({ [name]: [`must be greater than or equal to ${min}`] });
    if (number > max) throw invalid({ [name]: [`must be less than or equal to ${max}`] });
    return number;
  });
}

const trueWords = new Set(['true', '1', 't', 'on', 'yes']);

/** A yes or no. Everything that is not a word for yes is no. */
export function flag(): Param<boolean> {
  return param(z.boolean(), (raw, name) => trueWords.has(scalar(raw, name).trim().toLowerCase()));
}

/** One word of a list; others are refused with the text of a failed validation. */
export function choice<const W extends string>(words: readonly W[]): Param<W> {
  return param(z.enum(words as [W, ...W[]]), (raw, name) => {
    const value = scalar(raw, name);
    const found = words.find((word) => word === value);
    if (!found) throw invalid({ [name]: ['is not included in the list'] });
    return found;
  });
}

/** As `choice`, but an unknown word is as good as none: for filters and orders. */
export function looseChoice<const W extends string>(words: readonly W[]): Param<W | undefined> {
  const schema = z.enum(words as [W, ...W[]]);
  return optional(
    param(schema, (raw) => words.find((word) => typeof raw === 'string' && word === raw.trim())),
  );
}

/** One text, several (`name[]=a`, `name=a&name=b`, a JSON list), or texts with commas between them. Blanks around go. */
export function words(): Param<string[]> {
  const read: Param<string[]>['read'] = (raw, name) => {
    const list = Array.isArray(raw)
      ? raw
      : isIndexed(raw)
        ? Object.values(raw)
        : scalar(raw, name).split(',');
    return list.map((item) => scalar(item, name).trim()).filter((item) => item !== '');
  };
  return { ...param(z.union([z.string(), z.array(z.string())]), read), list: true };
}

/** ISO 8601 moment in the years 1 to 9999. */
export function timestamp(): Param<Date> {
  return param(z.iso.datetime({ offset: true }), (raw, name) => {
    const value = scalar(raw, name);
    const time = readMoment(value);
    if (!time) throw badRequest(`"${name}" must be a timestamp in ISO 8601 format: YYYY-MM-DDTHH:MM:SSZ`);
    return time;
  });
}

/** Null also for days that no calendar has, and outside the years 1 to 9999 of UTC: nobody could read those back. */
function readMoment(text: string): Date | null {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)/.exec(text) ?? [];
  // The language takes 30 February for 1 March.
  const calendar = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (calendar.getUTCMonth() !== Number(month) - 1 || calendar.getUTCDate() !== Number(day)) return null;
  const time = new Date(text);
  return time.getUTCFullYear() >= 1 && time.getUTCFullYear() <= 9999 ? time : null;
}

/** A JSON object, such as the `info` of a runner. */
export function object<T>(schema: z.ZodType<T>): Param<T> {
  return param(schema, (raw, name) => {
    const result = schema.safeParse(raw);
    if (!result.success) throw invalid({ [name]: ['is invalid'] });
    return result.data;
  });
}

/** Whatever was sent: for the few parameters whose faults have texts of their own. */
export function anything(): Param<unknown> {
  return param(z.unknown(), (raw) => raw);
}

/** A number in the path that names a row. Anything else names nothing, so it is a 404. */
export function pathId(): Param<number> {
  return {
    required: true,
    keepBlank: false,
    list: false,
    place: 'path',
    schema: z.number().int(),
    read(raw) {
      const id = readId(raw);
      if (id === null) throw notFound();
      return id;
    },
  };
}

/** Names of the parameters among these that can have several values. */
export function listNames(params: Params = {}): ListNames {
  return new Set(Object.keys(params).filter((name) => params[name]?.list));
}

/** A text in the path, such as a sha. However long, it names something that is not there rather than being wrong. */
export function pathText(): Param<string> {
  return { ...text(), place: 'path' };
}

/** A branch, tag or commit that is looked up: as with `pathText`, no length of it is a fault of its own. */
export function revision(): Param<string> {
  return text();
}

/** The id that a text holds, or null when it is none or out of range. */
export function readId(raw: unknown): number | null {
  if (typeof raw !== 'string' || !/^\d{1,10}$/.test(raw)) return null;
  const id = Number(raw);
  return id <= maxId ? id : null;
}

/** Page and page size, interface: "Limits". Nonsense gives the defaults. */
export function readPage(raw: Record<string, unknown>): { page: number; perPage: number } {
  const page = readWhole(raw.page);
  const perPage = readWhole(raw.per_page);
  return {
    // The cap keeps the offset inside what PostgreSQL counts with.
    page: page >= 1 ? Math.min(page, 1_000_000_000_000) : 1,
    perPage: perPage >= 1 ? Math.min(perPage, 100) : 20,
  };
}

/** NaN for what is no number; a map (`page[a]=1`) cannot even be asked. */
function readWhole(raw: unknown): number {
  return typeof raw === 'object' ? Number.NaN : Math.trunc(Number(raw));
}

/**
 * Reads every declared parameter from what the request sent. The first fault in declared order is thrown.
 * @param raw path, query and body merged.
 */
export function readParams<P extends Params>(params: P, raw: Record<string, unknown>): Values<P> {
  const values: Record<string, unknown> = {};
  for (const [name, declared] of Object.entries(params)) {
    const given = raw[name];
    if (isAbsent(given, declared.keepBlank)) {
      const { required, substitute } = declared;
      if (required || (substitute !== undefined && isAbsent(raw[substitute], false))) throw missing(name);
      continue;
    }
    values[name] = declared.read(given, name);
  }
  return values as Values<P>;
}

function isAbsent(raw: unknown, keepBlank: boolean): boolean {
  if (raw === undefined || raw === null) return true;
  return !keepBlank && typeof raw === 'string' && raw.trim() === '';
}

function isIndexed(raw: unknown): raw is Record<string, unknown> {
  return typeof raw === 'object' && raw !== null && Object.keys(raw).every((key) => /^\d+$/.test(key));
}

function scalar(raw: unknown, name: string): string {
  if (typeof raw === 'boolean' || (typeof raw === 'number' && Number.isFinite(raw))) return String(raw);
  // PostgreSQL stores no NUL in a text.
  if (typeof raw !== 'string' || raw.includes('\0')) throw invalid({ [name]: ['is invalid'] });
  return raw;
}
