import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

/** Adds up what the database noted of the number of projects, so that few rows have to be read for it. */
export async function sumProjectCounts({ em }: Work): Promise<void> {
  await sql(
    em,
    `with gone as (
       delete from project_counts returning visibility_level, archived, change
     )
     insert into project_counts (visibility_level, archived, change)
     select visibility_level, archived, sum(change) from gone group by visibility_level, archived
     having sum(change) <> 0`,
  );
}
