import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

/**
 * Makes transactions that name the same thing come one after the other, each until its end. For what no constraint
 * of one table can keep unique.
 *
 * @param things such as `e-mail ada@example.com`; the case does not matter.
 */
export async function takeTurns({ em }: Pick<Work, 'em'>, things: string[]): Promise<void> {
  await sql(
    em,
    `select pg_advisory_xact_lock(number) from (
       select distinct hashtextextended(lower(thing), 0) as number from unnest($1::text[]) as thing order by 1
     ) as numbers`,
    [things],
  );
}
