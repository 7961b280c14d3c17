import test, { type ExecutionContext } from 'ava';
import { moveRef } from '../../server/actions/move-ref.ts';
import { RefConflictError } from '../../server/git/errors.ts';
import { type MergeScene, withMerging } from '../support/merge-scene.ts';
import { startServerProcess } from '../support/server-process.ts';

const merging = withMerging({ poolSize: 8 });
const { holder, git, commit, push, request, scene, stateOf, notesOf, eventsOf, call, outstanding } = merging;

interface Json {
  state?: string;
  message?: string;
  target_branch?: string;
}

/** A project with so many merge requests into master, each with a file of its own. */
async function crowd(
  size: number,
): Promise<{ at: MergeScene; all: { id: number; sha: string; file: string }[] }> {
  const at = await scene();
  const all = [];
  for (let number = 1; number <= size; number += 1) {
    const file = `file-${number}`;
    const sha = await commit(at.project, [at.base], { [file]: 'x\n' });
    await git(at.project, 'update-ref', `refs/heads/topic-${number}`, sha);
    const { id } = await request(at.project, { from: `topic-${number}` });
    all.push({ id, sha, file });
  }
  return { at, all };
}

async function accept(url: string, at: MergeScene, id: number): Promise<{ status: number; body: Json }> {
  const path = `${url}/api/v3/projects/${at.project.id}/merge_requests/${id}/merge`;
  const headers = { 'PRIVATE-TOKEN': at.project.owner.token };
  const answer = await fetch(path, { method: 'PUT', headers });
  return { status: answer.status, body: (await answer.json()) as Json };
}

/** Every request that was told to be merged is, once, and every other one is as it was. */
async function check(
  t: ExecutionContext,
  at: MergeScene,
  tried: { id: number; sha: string; file: string; status: number; body: Json }[],
): Promise<number> {
  const merged = tried.filter(({ status }) => status === 200);
  for (const { status, body } of tried) {
    if (status !== 200) t.deepEqual([status, body.message], [405, 'Branch cannot be merged']);
    else t.is(body.state, 'merged');
  }
  const history = (
    await git(at.project, 'log', '--first-parent', '--merges', '--format=%H %P', 'master')
  ).split('\n');
  const heads = history.map((line) => line.split(' ')[2]);
  t.deepEqual(heads.sort(), merged.map(({ sha }) => sha).sort());
  const files = (await git(at.project, 'ls-tree', '--name-only', 'master')).split('\n');
  for (const { id, sha, file, status } of tried) {
    const state = await stateOf(id);
    t.is(state.state, status === 200 ? 'merged' : 'opened');
    t.is(files.includes(file), status === 200);
    const line = history.find((one) => one.endsWith(sha));
    t.is(state.merge_commit_sha, line?.slice(0, 40) ?? null);
    t.deepEqual(await eventsOf(id), status === 200 ? ['accepted'] : []);
    t.is((await notesOf(id)).length, status === 200 ? 1 : 0);
  }
  t.is(await outstanding(at.project), 0);
  return merged.length;
}

test.serial('ten requests that are merged into one branch at once all land', async (t) => {
  const { at, all } = await crowd(10);
  const tried = await Promise.all(
    all.map(async (one) => ({ ...one, ...(await accept(holder.app.url, at, one.id)) })),
  );
  t.is(await check(t, at, tried), 10);
});

test.serial(
  'through two servers each of them lands, or is told; and one that was told can be repeated',
  async (t) => {
    const { at, all } = await crowd(12);
    const other = await startServerProcess(t, holder.app);
    const urls = [holder.app.url, other.url];
    const tried = await Promise.all(
      all.map(async (one, index) => ({ ...one, ...(await accept(urls[index % 2] ?? '', at, one.id)) })),
    );
    t.true((await check(t, at, tried)) >= 2);
    const again = await Promise.all(
      tried.map(async (one) =>
        one.status === 200 ? one : { ...one, ...(await accept(holder.app.url, at, one.id)) },
      ),
    );
    t.is(await check(t, at, again), 12);
  },
);

test.serial('one request that ten merge at once, through two servers, is merged once', async (t) => {
  const at = await scene();
  const other = await startServerProcess(t, holder.app);
  const tried = await Promise.all(
    Array.from({ length: 10 }, (_, index) => accept(index % 2 ? holder.app.url : other.url, at, at.id)),
  );
  const refused = tried.filter(({ status }) => status !== 200);
  t.is(refused.length, 9);
  for (const { status, body } of refused) {
    t.is(status, 405);
    t.is(body.message, '405 Method Not Allowed');
  }
  t.is(await git(at.project, 'rev-list', '--count', `${at.master}..master`), '2');
  t.deepEqual(await eventsOf(at.id), ['accepted']);
  t.is((await notesOf(at.id)).length, 1);
});

test.serial(
  'of two requests that do not go together the second is told, and nothing of it lands',
  async (t) => {
    const at = await scene({ side: { README: 'mine\n' } });
    const sha = await commit(at.project, [at.base], { README: 'yours\n' });
    await git(at.project, 'update-ref', 'refs/heads/other', sha);
    const { id } = await request(at.project, { from: 'other' });
    const tried = await Promise.all([at.id, id].map((one) => accept(holder.app.url, at, one)));
    t.deepEqual(tried.map(({ status }) => status).sort(), [200, 405]);
    t.is(await git(at.project, 'rev-list', '--count', `${at.master}..master`), '2');
  },
);

test.serial('merges among pushes to the same branch: all of both is there', async (t) => {
  const { at, all } = await crowd(6);
  const pushed: string[] = [];
  const pushing = (async () => {
    for (let number = 0; number < 6; number += 1) {
      const tip = await git(at.project, 'rev-parse', 'master');
      const sha = await commit(at.project, [tip], { [`pushed-${number}`]: 'x' });
      try {
        // From where it was seen, since it would throw away a merge that came in between.
        const userId = at.project.owner.id;
        const move = { projectId: at.project.id, userId, ref: 'refs/heads/master', oldSha: tip, newSha: sha };
        await moveRef(holder.app.work, move);
        pushed.push(sha);
      } catch (error) {
        if (!(error instanceof RefConflictError)) throw error;
      }
    }
  })();
  const tried = await Promise.all(
    all.map(async (one) => ({ ...one, ...(await accept(holder.app.url, at, one.id)) })),
  );
  await pushing;
  await check(t, at, tried);
  for (const sha of pushed)
    await t.notThrowsAsync(git(at.project, 'merge-base', '--is-ancestor', sha, 'master'));
});

test.serial(
  'a push to the source at the same time is merged as a whole, or comes too late as a whole',
  async (t) => {
    for (let round = 0; round < 4; round += 1) {
      const at = await scene();
      const next = await commit(at.project, [at.side], { next: 'x' });
      const [answer] = await Promise.all([accept(holder.app.url, at, at.id), push(at.project, 'side', next)]);
      t.is(answer.status, 200);
      const [, head] = (await git(at.project, 'log', '-1', '--format=%P', 'master')).split(' ');
      const state = await stateOf(at.id);
      t.deepEqual([state.state, state.head_sha], ['merged', head ?? '']);
      t.true(head === at.side || head === next);
    }
  },
);

test.serial(
  'who merges and who closes or removes the branch at the same time: what is told is true',
  async (t) => {
    for (let round = 0; round < 4; round += 1) {
      const at = await scene();
      const closing =
        round % 2 === 0 ? call(at, '', { form: { state_event: 'close' } }) : push(at.project, 'side', null);
      const [answer] = await Promise.all([accept(holder.app.url, at, at.id), closing]);
      const { state } = await stateOf(at.id);
      const hasLanded = (await git(at.project, 'rev-list', '--count', `${at.master}..master`)) === '2';
      t.is(answer.status === 200, hasLanded);
      t.is(state, hasLanded ? 'merged' : 'closed');
      t.is(await outstanding(at.project), 0);
    }
  },
);

const changes: Record<string, Record<string, string>> = {
  close: { state_event: 'close' },
  retarget: { target_branch: 'other' },
  'mark as unfinished': { title: 'WIP: not yet' },
};
for (const [what, change] of Object.entries(changes)) {
  test.serial(
    `merge and ${what} at once: one of the two comes first, and the request says which`,
    async (t) => {
      const { app } = holder;
      for (let round = 0; round < 5; round += 1) {
        const at = await scene();
        await git(at.project, 'update-ref', 'refs/heads/other', at.base);
        const path = `/api/v3/projects/${at.project.id}/merge_requests/${at.id}`;
        const [merge, put] = await Promise.all([
          accept(app.url, at, at.id),
          app.call<Json>('PUT', path, { as: at.project.owner.token, json: change }),
        ]);
        const isIn = (await git(at.project, 'rev-list', '--count', `${at.master}..master`)) !== '0';
        const { body } = await app.call<Json>('GET', path, { as: at.project.owner.token });
        t.is(
          isIn,
          merge.status === 200 && body.target_branch === 'master',
          JSON.stringify([merge, put.status]),
        );
        t.is(body.state === 'merged', merge.status === 200);
        if (merge.status !== 200) t.is(put.status, 200);
        else if (body.target_branch === 'master') t.not(put.body.state, 'closed');
        const notes = await notesOf(at.id);
        t.false(notes.length > 1 && change.state_event === 'close', 'closed and merged');
      }
    },
  );
}
