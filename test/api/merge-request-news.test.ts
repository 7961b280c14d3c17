import test from 'ava';
import type { MadeProject } from '../support/make.ts';
import { ask, branchedProject } from '../support/merge-requests.ts';
import { mergingOn } from '../support/merge-scene.ts';
import { withMail } from '../support/with-mail.ts';

const { holder, told } = withMail({ poolSize: 4 });
const { call, commit, push, scene } = mergingOn(holder);

function aboutOf({ project, id }: { project: MadeProject; id: number }, by = project.owner) {
  return { by: by.id, type: 'MergeRequest', id };
}

test.serial('people are told of a new merge request, and not again of what it came with', async (t) => {
  const { app } = holder;
  const { project } = await branchedProject(app);
  const assignee = await app.make.user();
  const { body } = await ask(app, project, project.owner, { labels: 'a', assignee_id: assignee.id });
  t.deepEqual(await told(), [{ ...aboutOf({ project, id: body.id }), kind: 'opened' }]);
  t.is((await ask(app, project, project.owner)).status, 409);
  t.deepEqual(await told(), []);
});

test.serial('people are told of what they are to hear of its changes', async (t) => {
  const { make, rows } = holder.app;
  const at = await scene();
  const { project } = at;
  const about = aboutOf(at);
  const [one, other] = [await make.user(), await make.user()];
  await told();
  const change = async (json: Record<string, unknown>) => t.is((await call(at, '', { json })).status, 200);
  await change({ title: 'x', description: 'y' });
  t.deepEqual(await told(), []);
  for (const { id } of [one, other, other]) await change({ assignee_id: id });
  await change({ assignee_id: 0 });
  t.deepEqual(await told(), [
    { ...about, kind: 'reassigned', previousAssigneeId: null },
    { ...about, kind: 'reassigned', previousAssigneeId: one.id },
    { ...about, kind: 'reassigned', previousAssigneeId: other.id },
  ]);
  for (const labels of ['a', 'a, b', 'b']) await change({ labels });
  const labels = await rows<{ id: number }>('select id from labels where project_id = $1 order by title', [
    project.id,
  ]);
  t.deepEqual(
    await told(),
    labels.map(({ id }) => ({ ...about, kind: 'labelled', labelIds: [id] })),
  );
});

test.serial('people are told when it is closed, opened again and merged', async (t) => {
  const at = await scene();
  const about = aboutOf(at);
  for (const event of ['close', 'reopen']) await call(at, '', { json: { state_event: event } });
  t.deepEqual(await told(), [
    { ...about, kind: 'closed' },
    { ...about, kind: 'reopened' },
  ]);
  t.is((await call(at, '/merge')).status, 200);
  t.deepEqual(await told(), [{ ...about, kind: 'merged' }]);
  t.is((await call(at, '/merge')).status, 405);
  t.deepEqual(await told(), []);
});

test.serial(
  'people are told of a merge by a push, of whoever pushed, and of an end with its branch',
  async (t) => {
    const at = await scene();
    const pusher = await holder.app.make.member(at.project, 'master');
    await push(at.project, 'master', await commit(at.project, [at.master, at.side], {}), pusher);
    t.deepEqual(await told(), [{ ...aboutOf(at, pusher), kind: 'merged' }]);
    const other = await scene();
    await push(other.project, 'side', null);
    t.deepEqual(await told(), [{ ...aboutOf(other), kind: 'closed' }]);
  },
);
