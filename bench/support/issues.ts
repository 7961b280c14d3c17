import type { World } from './world.ts';

/**
 * Adds issues and merge requests to projects, so many of each, by one author per project, with labels, milestones,
 * assignees and comments. Every tenth issue has the label `bug`, and as many the milestone `v1`; one in fifty has the
 * label `rare`.
 */
export async function addIssues(
  { db }: Pick<World, 'db'>,
  { projectIds, each }: { projectIds: number[]; each: number },
): Promise<void> {
  for (const text of [addLabels, addMilestones]) await db.query(text, [projectIds]);
  for (const text of [insertIssues, insertMergeRequests]) await db.query(text, [projectIds, each]);
  for (const text of [giveLabels, addNotes, keepNumbers]) await db.query(text, [projectIds]);
  for (const table of touched) await db.query(`vacuum analyze ${table}`);
}

const touched = ['labels', 'milestones', 'issues', 'issue_labels', 'merge_requests', 'notes', 'projects'];

const addLabels = `insert into labels (project_id, title, color)
  select id, title, '#428BCA' from unnest($1::int[]) as id, unnest(array['bug', 'rare', 'to do', 'docs']) as title`;
const addMilestones = `insert into milestones (project_id, iid, title)
  select id, n, 'v' || n from unnest($1::int[]) as id, generate_series(1, 3) n`;
const insertIssues = `
  insert into issues (project_id, iid, title, description, state, author_id, assignee_id, milestone_id,
    user_notes_count, created_at, updated_at)
  select p.id, n, 'Issue ' || n, repeat('What is wrong with it. ', 10), case when n % 3 = 0 then 'closed' else 'opened' end,
    p.creator_id, case when n % 2 = 0 then p.creator_id end, case when n % 10 = 5 then m.id end, n % 2,
    now() - n * interval '1 minute', now() - (n * 7919 % 1000) * interval '1 minute'
  from generate_series(1, $2::int) n
    cross join projects p join milestones m on m.project_id = p.id and m.iid = 1
  where p.id = any($1::int[])`;
const insertMergeRequests = `
  insert into merge_requests (project_id, iid, source_project_id, source_branch, target_branch, title, state, author_id,
    created_at)
  select p.id, n, p.id, 'branch-' || n, 'master', 'Merge request ' || n,
    case when n % 3 = 0 then 'opened' else 'merged' end, p.creator_id, now() - n * interval '1 minute'
  from generate_series(1, $2::int) n cross join projects p where p.id = any($1::int[])`;
const giveLabels = `
  insert into issue_labels (issue_id, label_id)
  select t.id, l.id from issues t join labels l on l.project_id = t.project_id
  where t.project_id = any($1::int[]) and case l.title when 'bug' then t.iid % 10 = 0 when 'rare' then t.iid % 50 = 0
    when 'docs' then t.iid % 2 = 0 else false end`;
const addNotes = `
  insert into notes (project_id, author_id, noteable_type, noteable_id, body)
  select project_id, author_id, 'Issue', id, 'A comment' from issues
  where project_id = any($1::int[]) and user_notes_count > 0`;
const keepNumbers = `update projects p set last_issue_iid = (select count(*) from issues where project_id = p.id),
    last_merge_request_iid = (select count(*) from merge_requests where project_id = p.id)
  where id = any($1::int[])`;
