import test from 'ava';
import { issueCalls } from '../support/issues.ts';
import { withMail } from '../support/with-mail.ts';

const { holder, told } = withMail({ poolSize: 2 });
const { call, add, change } = issueCalls(holder);

test.serial('people are told of a new issue, and of what they are to hear of its changes', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const { id: by, token } = project.owner;
  const [one, other] = [await make.user(), await make.user()];
  const { body: issue } = await add(project, token, { labels: 'a', assignee_id: one.id });
  const about = { by, type: 'Issue', id: issue.id };
  t.deepEqual(await told(), [{ ...about, kind: 'opened' }]);
  await change(issue, token, { title: 'x', description: 'y' });
  t.deepEqual(await told(), []);
  await change(issue, token, { assignee_id: other.id });
  await change(issue, token, { assignee_id: other.id });
  t.deepEqual(await told(), [{ ...about, kind: 'reassigned', previousAssigneeId: one.id }]);
  await change(issue, token, { labels: 'a, b' });
  await change(issue, token, { labels: 'b' });
  const [label] = await holder.app.rows<{ id: number }>(
    "select id from labels where project_id = $1 and title = 'b'",
    [project.id],
  );
  t.deepEqual(await told(), [{ ...about, kind: 'labelled', labelIds: [label?.id] }]);
  for (const event of ['close', 'close', 'reopen']) await change(issue, token, { state_event: event });
  t.deepEqual(await told(), [
    { ...about, kind: 'closed' },
    { ...about, kind: 'reopened' },
  ]);
});

test.serial('people are told of a move, and not of what it consists of', async (t) => {
  const { make } = holder.app;
  const from = await make.project();
  const to = await make.project({ owner: from.owner });
  const issue = await make.issue(from);
  const path = `/projects/${from.id}/issues/${issue.id}/move`;
  const { body: moved } = await call('POST', path, from.owner.token, { to_project_id: to.id });
  const about = { by: from.owner.id, type: 'Issue', id: issue.id };
  t.deepEqual(await told(), [{ ...about, kind: 'moved', newId: moved.id }]);
});
