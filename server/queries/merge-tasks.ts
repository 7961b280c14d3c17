/** Column that has a task merge the merge request `t` once that can be done; one task for each. */
export const mergeWhenReady = `(graphile_worker.add_job('merge_when_ready',
    json_build_object('mergeRequestId', t.id), job_key := 'merge_when_ready:' || t.id, max_attempts := 25)).id`;
