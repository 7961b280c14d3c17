import type { Work } from '../services.ts';
import { inTransaction, sql } from '../sql.ts';

const perRound = 500;

/** Forgets artifacts whose time is over and removes their bytes. They have been invisible since that moment. */
export async function expireArtifacts(work: Work): Promise<void> {
  await inTransaction(work, async ({ em }) => {
    const rows = await sql<{ artifacts_key: string }>(
      em,
      `with expired as (
         select id, artifacts_key from builds
         where artifacts_key is not null and artifacts_expire_at < now()
         order by artifacts_expire_at limit ${perRound} for update skip locked
       )
       update builds b set artifacts_key = null, artifacts_filename = null, artifacts_size = null
       from expired where b.id = expired.id returning expired.artifacts_key`,
    );
    for (const { artifacts_key } of rows) {
      await work.queue.add(em, 'remove_blob', { key: artifacts_key });
    }
  });
}

/** Keeps the artifacts of a build for good. */
export async function keepArtifacts(work: Work, buildId: number): Promise<void> {
  await sql(
    work.em,
    'update builds set artifacts_expire_at = null where id = $1 and artifacts_key is not null',
    [buildId],
  );
}
