import test from 'ava';
import { statusesOf } from '../support/api-calls.ts';
import { withApp } from '../support/app.ts';
import { issueCalls } from '../support/issues.ts';

// As many connections as requests meet in the database.
const holder = withApp({ poolSize: 10 });
const { call, add, change, read, notesOn, eventsOf, openIssuesOf } = issueCalls(holder);
const rounds = 6;

function times<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => make(index)));
}

test.serial('two hundred issues at once have the numbers one to two hundred', async (t) => {
  const project = await holder.app.make.project();
  const answers = await times(200, (index) =>
    add(project, project.owner.token, { labels: `common, of-${index % 7}` }),
  );
  t.deepEqual(
    answers.map(({ body }) => body.iid).sort((a, b) => a - b),
    Array.from({ length: 200 }, (_, index) => index + 1),
  );
  t.true(answers.every(({ status, body }) => status === 200 && body.labels.length === 2));
  t.is(await openIssuesOf(project), 200);
  const labels = await holder.app.rows('select 1 from labels where project_id = $1', [project.id]);
  t.is(labels.length, 8);
  const events = await holder.app.rows('select 1 from events where project_id = $1', [project.id]);
  t.is(events.length, 200);
});

test.serial('several that close and reopen an issue leave as many open issues as there are', async (t) => {
  for (let round = 0; round < rounds; round += 1) {
    const project = await holder.app.make.project();
    const { token } = project.owner;
    const { body: issue } = await add(project, token);
    await add(project, token);
    const answers = await times(10, (index) =>
      change(issue, token, { state_event: index % 2 === 0 ? 'close' : 'reopen' }),
    );
    t.deepEqual(new Set(statusesOf(answers)), new Set([200]));
    const { state } = (await read(issue, token)).body;
    t.is(await openIssuesOf(project), state === 'opened' ? 2 : 1);
    const [notes, events] = [await notesOn(issue), await eventsOf(issue)];
    t.is(events.length, notes.length + 1, 'each change once in the activity');
    t.true(notes.every((body, index) => body.endsWith(index % 2 === 0 ? 'closed' : 'reopened')));
  }
});

test.serial('changes of different attributes at once are all kept', async (t) => {
  const { make } = holder.app;
  for (let round = 0; round < rounds; round += 1) {
    const project = await make.project();
    const { token, id } = project.owner;
    const { body: issue } = await add(project, token);
    const changes = [{ title: 'new' }, { description: 'new' }, { assignee_id: id }, { labels: 'new' }];
    const more = [...changes, { state_event: 'close' }];
    t.deepEqual(
      new Set(statusesOf(await times(5, (index) => change(issue, token, more[index] ?? {})))),
      new Set([200]),
    );
    t.like((await read(issue, token)).body, {
      title: 'new',
      description: 'new',
      state: 'closed',
      assignee: { id },
      labels: ['new'],
    });
    t.is((await notesOn(issue)).length, 3);
  }
});

test.serial('of several that remove an issue one does, and the count is right', async (t) => {
  for (let round = 0; round < rounds; round += 1) {
    const project = await holder.app.make.project();
    const { token } = project.owner;
    const { body: issue } = await add(project, token);
    const path = `/projects/${project.id}/issues/${issue.id}`;
    const [first, second, closed] = await Promise.all([
      call('DELETE', path, token),
      call('DELETE', path, token),
      change(issue, token, { state_event: 'close' }),
    ]);
    t.deepEqual(statusesOf([first, second]), [200, 404]);
    t.true(closed.status === 200 || closed.status === 404);
    t.is(await openIssuesOf(project), 0);
  }
});

test.serial(
  'moves in opposite directions, beside new issues and closings, do not wait for each other',
  async (t) => {
    const { make } = holder.app;
    for (let round = 0; round < rounds; round += 1) {
      const one = await make.project();
      const { owner } = one;
      const other = await make.project({ owner });
      const [here, there] = [
        await times(4, async () => (await add(one, owner.token, { description: 'See #1' })).body),
        await times(4, async () => (await add(other, owner.token, { description: 'See #1' })).body),
      ];
      const move = (issue: { id: number; project_id: number }, to: number) =>
        call('POST', `/projects/${issue.project_id}/issues/${issue.id}/move`, owner.token, {
          to_project_id: to,
        });
      const answers = await Promise.all([
        ...here.slice(0, 3).map((issue) => move(issue, other.id)),
        ...there.slice(0, 3).map((issue) => move(issue, one.id)),
        ...[one, other].map((project) => add(project, owner.token)),
        ...[here, there].map((issues) =>
          change(issues[3] ?? { id: 0, project_id: 0 }, owner.token, { state_event: 'close' }),
        ),
      ]);
      t.deepEqual(new Set(statusesOf(answers)), new Set([200, 201]));
      for (const project of [one, other]) {
        const text = 'select iid, state, deleted_at from issues where project_id = $1 order by iid';
        const kept = await holder.app.rows<{ iid: number; state: string }>(text, [project.id]);
        t.deepEqual(
          kept.map(({ iid }) => iid),
          [1, 2, 3, 4, 5, 6, 7, 8],
        );
        t.is(await openIssuesOf(project), kept.filter(({ state }) => state === 'opened').length);
      }
    }
  },
);

test.serial('of several that move an issue at once one does', async (t) => {
  const { make } = holder.app;
  for (let round = 0; round < rounds; round += 1) {
    const from = await make.project();
    const { owner } = from;
    const to = [await make.project({ owner }), await make.project({ owner })];
    const { body: issue } = await add(from, owner.token);
    const path = `/projects/${from.id}/issues/${issue.id}/move`;
    const answers = await times(4, (index) =>
      call('POST', path, owner.token, { to_project_id: to[index % 2]?.id }),
    );
    t.deepEqual(statusesOf(answers), [201, 400, 400, 400]);
    t.is((await notesOn(issue)).length, 1);
    const counts = await Promise.all(to.map(openIssuesOf));
    t.deepEqual(counts.sort(), [0, 1]);
  }
});
