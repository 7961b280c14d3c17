import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import type { MadeProject, MadeRunner } from '../support/make.ts';

const holder = withApp({ poolSize: 20 });

interface Claimed {
  id: number;
}

interface Tally {
  /** Ids of the builds that each runner got. */
  byRunner: Map<MadeRunner, number[]>;
  /** Statuses that were neither a build nor "nothing". */
  odd: number[];
}

function claim(runner: MadeRunner) {
  return holder.app.call<Claimed>('POST', '/ci/api/v1/builds/register', { json: { token: runner.token } });
}

/** Every runner claims, again and again, until nothing is left for it and `isOver`. */
async function claimAtOnce(runners: MadeRunner[], isOver: () => boolean = () => true): Promise<Tally> {
  const tally: Tally = { byRunner: new Map(), odd: [] };
  await Promise.all(
    runners.map(async (runner) => {
      const ids: number[] = [];
      tally.byRunner.set(runner, ids);
      for (;;) {
        const wasOver = isOver();
        const { status, body } = await claim(runner);
        if (status === 201) ids.push(body.id);
        else if (status !== 404) tally.odd.push(status);
        if (status !== 201 && wasOver) return;
      }
    }),
  );
  return tally;
}

/** As many builds as asked for, each with a pipeline of its own. */
async function manyBuilds(project: MadeProject, count: number, tags: string[] = []): Promise<number[]> {
  const ids: number[] = [];
  for (let index = 0; index < count; index += 1)
    ids.push((await holder.app.make.build(project, { job: { tags } })).id);
  return ids;
}

function allOf({ byRunner }: Tally): number[] {
  return [...byRunner.values()].flat().sort((a, b) => a - b);
}

test.serial('50 runners claim 500 builds: every build exactly once, none left', async (t) => {
  const { make, rows, logLines } = holder.app;
  const project = await make.project();
  const builds = await manyBuilds(project, 500);
  const runners: MadeRunner[] = [];
  for (let index = 0; index < 50; index += 1) runners.push(await make.runner());
  const tally = await claimAtOnce(runners);
  t.deepEqual(allOf(tally), builds);
  t.deepEqual(tally.odd, []);
  for (const [runner, ids] of tally.byRunner) {
    const stored = await rows<Claimed>('select id from builds where runner_id = $1 order by id', [runner.id]);
    t.deepEqual(
      stored.map((row) => row.id),
      ids.sort((a, b) => a - b),
    );
  }
  t.deepEqual(await rows('select * from pending_builds'), []);
  t.false(logLines.some((line) => line.includes('deadlock')));
});

test.serial('tags, specific and shared runners side by side: nobody gets what is not for him', async (t) => {
  const { make, rows } = holder.app;
  const projects = [await make.project(), await make.project({ columns: { shared_runners_enabled: false } })];
  const [open, closed] = projects as [MadeProject, MadeProject];
  await manyBuilds(open, 30);
  await manyBuilds(open, 30, ['ruby']);
  await manyBuilds(closed, 30, ['ruby']);
  await manyBuilds(closed, 30, ['osx']);
  const runners: MadeRunner[] = [];
  for (let index = 0; index < 4; index += 1) {
    runners.push(await make.runner());
    runners.push(await make.runner({ tags: ['ruby'], runUntagged: false }));
    runners.push(await make.runner({ projects: [closed], tags: ['ruby'] }));
    runners.push(await make.runner({ projects: [open, closed], tags: ['osx', 'ruby'] }));
  }
  const tally = await claimAtOnce(runners);
  t.is(allOf(tally).length, 120);
  t.is(new Set(allOf(tally)).size, 120);
  const misplaced = await rows(
    `select b.id from builds b join pipeline_jobs j on j.id = b.job_id join runners r on r.id = b.runner_id
       join projects p on p.id = b.project_id
     where b.project_id = any($1) and (not j.tags <@ r.tag_list or (j.tags = '{}' and not r.run_untagged)
       or (r.is_shared and not p.shared_runners_enabled)
       or (not r.is_shared and not exists (select 1 from runner_projects x
         where x.runner_id = r.id and x.project_id = b.project_id)))`,
    [projects.map((project) => project.id)],
  );
  t.deepEqual(misplaced, []);
});

test.serial('two runners ask for one build, 100 times', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const pair = [await make.runner({ projects: [project] }), await make.runner({ projects: [project] })];
  for (let round = 0; round < 100; round += 1) {
    await make.build(project);
    const statuses = (await Promise.all(pair.map(claim))).map((answer) => answer.status);
    t.deepEqual(statuses.sort(), [201, 404], `round ${round}`);
  }
});

test.serial(
  'builds are canceled while they are claimed: none is both, and none waits for ever',
  async (t) => {
    const { make, rows, call, logLines } = holder.app;
    const project = await make.project();
    const builds = await manyBuilds(project, 150);
    const runners: MadeRunner[] = [];
    for (let index = 0; index < 8; index += 1) runners.push(await make.runner({ projects: [project] }));
    let isOver = false;
    const cancelAll = async () => {
      await Promise.all(
        [0, 1, 2, 3].map(async (lane) => {
          // Half from the front, where the claims are, and half from the back.
          for (let index = lane; index < builds.length; index += 4) {
            const id = lane % 2 === 0 ? builds[index] : builds[builds.length - 1 - index];
            const answer = await call<{ status: string }>(
              'POST',
              `/api/v3/projects/${project.id}/builds/${id}/cancel`,
              { as: rootToken },
            );
            t.is(answer.status, 201);
            t.is(answer.body.status, 'canceled');
          }
        }),
      );
      isOver = true;
    };
    const [tally] = await Promise.all([claimAtOnce(runners, () => isOver), cancelAll()]);
    t.deepEqual(tally.odd, []);
    t.is(new Set(allOf(tally)).size, allOf(tally).length);
    const states = await rows<{ id: number; status: string; runner_id: number | null; pipeline: string }>(
      `select b.id, b.status, b.runner_id, p.status as pipeline from builds b
       join pipelines p on p.id = b.pipeline_id where b.id = any($1)`,
      [builds],
    );
    const claimed = new Set(allOf(tally));
    for (const build of states) {
      t.is(build.runner_id !== null, claimed.has(build.id), `build ${build.id}`);
      t.is(build.pipeline, build.status === 'canceled' ? 'canceled' : 'running', `build ${build.id}`);
    }
    const untouched = builds.length - states.filter((build) => build.status === 'canceled').length;
    t.is(states.filter((build) => build.status === 'running').length, untouched);
    t.deepEqual(await rows('select * from pending_builds where project_id = $1', [project.id]), []);
    t.false(logLines.some((line) => line.includes('deadlock')));
  },
);

test.serial(
  'a runner is removed while it claims and reports: none of its builds is left running',
  async (t) => {
    const { make, rows, call, logLines } = holder.app;
    const project = await make.project();
    for (let round = 0; round < 15; round += 1) {
      const runner = await make.runner({ projects: [project] });
      const builds = await manyBuilds(project, 6);
      const report = async (id: number) => {
        const json = { token: runner.token, state: 'success', info: { version: `${round}` } };
        return call('PUT', `/ci/api/v1/builds/${id}`, { json });
      };
      const work = async () => {
        const statuses: number[] = [];
        for (;;) {
          const { status, body } = await claim(runner);
          statuses.push(status);
          if (status !== 201) return statuses;
          statuses.push((await report(body.id)).status);
        }
      };
      const remove = async () => {
        await claim(runner);
        return call('DELETE', '/ci/api/v1/runners/delete', { json: { token: runner.token } });
      };
      const [first, second, removed] = await Promise.all([work(), work(), remove()]);
      t.is(removed.status, 200);
      t.deepEqual(
        [...first, ...second].filter((status) => ![200, 201, 403, 404].includes(status)),
        [],
        `round ${round}`,
      );
      const running = await rows(`select id from builds where id = any($1) and status = 'running'`, [builds]);
      t.deepEqual(running, [], `round ${round}`);
      await rows(`delete from pending_builds where project_id = $1`, [project.id]);
    }
    t.false(logLines.some((line) => line.includes('deadlock')));
  },
);
