import type { EntityManager } from '@mikro-orm/postgresql';
import type { ClosingCause } from './actions/queue-closing.ts';
import type { Happening } from './mail/happening.ts';
import type { MailTask } from './mail/news.ts';
import { sql } from './sql.ts';

/** Payload of every background task, by name. Ids and small values only: the task reads the rest when it runs. */
export interface TaskPayloads {
  archive_trace: { buildId: number };
  close_issues: ClosingCause;
  deliver_hook: { hookId: number };
  end_lost_builds: Record<string, never>;
  end_lost_imports: Record<string, never>;
  expire_artifacts: Record<string, never>;
  follow_merge_request: { mergeRequestId: number };
  import_project: { projectId: number };
  forget_over: Record<string, never>;
  measure_coverage: { buildId: number };
  merge_when_ready: { mergeRequestId: number };
  /** `id` goes into the ids of the messages, so that a repeated task makes no others. */
  notify: { happening: Happening; id: string };
  purge_namespace: { namespaceId: number };
  purge_project: { projectId: number };
  remove_blob: { key: string };
  remove_source_branch: { mergeRequestId: number };
  send_mail: MailTask;
  settle_push: { pushId: number };
  sum_project_counts: Record<string, never>;
  sweep_stagings: Record<string, never>;
  tidy_repository: { projectId: number };
}

export type TaskName = keyof TaskPayloads;

export interface TaskOptions {
  /** Earliest start, in seconds from now by the database's clock. */
  delaySeconds?: number;
  /** At most one waiting task has this key; adding it again replaces that one. */
  key?: string;
  /** Tasks with the same name here are carried out one after the other. */
  queueName?: string;
}

/** Adds background tasks. They become visible with the transaction of `em`, and vanish with its roll-back. */
export class Queue {
  async add<N extends TaskName>(
    em: EntityManager,
    name: N,
    payload: TaskPayloads[N],
    { delaySeconds = 0, key, queueName }: TaskOptions = {},
  ): Promise<void> {
    await sql(
      em,
      `select 1 from graphile_worker.add_job($1, $2::json, run_at := now() + make_interval(secs => $3),
         job_key := $4, queue_name := $5, max_attempts := 25)`,
      [name, JSON.stringify(payload), delaySeconds, key ?? null, queueName ?? null],
    );
  }

  /** Adds tasks of one kind in one statement, however many. Each may have a key as with `add`, but no two the same. */
  async addEach<N extends TaskName>(
    em: EntityManager,
    name: N,
    payloads: TaskPayloads[N][],
    keyOf?: (payload: TaskPayloads[N]) => string,
  ): Promise<void> {
    await sql(
      em,
      `select 1 from graphile_worker.add_jobs(array(
         select (identifier, payload, null, null, 25, key, null, null)::graphile_worker.job_spec
         from unnest($2::json[], $3::text[]) with ordinality as task(payload, key, number),
           cast($1 as text) as identifier order by number))`,
      [name, payloads.map((payload) => JSON.stringify(payload)), payloads.map((one) => keyOf?.(one) ?? null)],
    );
  }

  /** Takes back the task with this key, if it has not started. */
  async remove(em: EntityManager, key: string): Promise<void> {
    await sql(em, 'select 1 from graphile_worker.remove_job($1)', [key]);
  }
}
