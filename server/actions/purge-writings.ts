/** Rows of one statement: few of those that take others along, or change a number of the project. */
const most = 500;

/** Those that others may be locking, in the order in which they do. */
function remove(table: string, order: 'id' | 'iid'): string {
  return `with held as (select id from ${table} where project_id = $1 order by ${order} limit ${most} for update)
    delete from ${table} where id in (select id from held) returning 1`;
}

/** What other projects' things say of where they were named. */
const removeReferences = `
  delete from notes where ctid = any(array(
    select ctid from notes where reference_project_id = $1 limit ${most} for update)) returning 1`;

/** Merge requests from here into other projects, which keep the commits. */
const forgetSource = `
  with held as (
    select id from merge_requests where source_project_id = $1 and source_project_id <> project_id
    order by id limit ${most} for no key update)
  update merge_requests set source_project_id = null where id in (select id from held) returning 1`;

/**
 * Statements, each to be repeated until it gives no row, that remove what people wrote into the project `$1`, and what is
 * said of that elsewhere; its own notes go before.
 */
export const writingSteps: readonly string[] = [
  removeReferences,
  forgetSource,
  remove('merge_requests', 'iid'),
  remove('issues', 'iid'),
  remove('labels', 'id'),
  remove('milestones', 'iid'),
  remove('snippets', 'id'),
];
