import { findCoverage } from '../ci/coverage.ts';
import { findTrace } from '../queries/trace.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { rawTrace } from './open-trace.ts';

/** Bytes at the end of a trace that are searched. */
const searched = 4 * 1024 * 1024;

/** Looks for the coverage in the trace of a build, by the pattern of its job or else of its project. */
export async function measureCoverage(work: Work, buildId: number): Promise<void> {
  const row = await sqlOne<{ pattern: string | null }>(
    work.em,
    `select coalesce(j.definition->>'coverage', p.build_coverage_regex) as pattern
     from builds b join pipeline_jobs j on j.id = b.job_id join projects p on p.id = b.project_id where b.id = $1`,
    [buildId],
  );
  const end = (await findTrace(work.em, buildId))?.length ?? 0;
  if (!row?.pattern || end === 0) return;
  const chunks: Buffer[] = [];
  const span = { buildId, start: Math.max(0, end - searched), end };
  for await (const chunk of rawTrace(work, span)) chunks.push(chunk);
  const coverage = findCoverage(Buffer.concat(chunks).toString(), row.pattern);
  if (coverage !== null)
    await sql(work.em, 'update builds set coverage = $2 where id = $1', [buildId, coverage]);
}
