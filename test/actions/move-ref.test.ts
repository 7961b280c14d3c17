import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { moveRef, type RefMove } from '../../server/actions/move-ref.ts';
import { AppError } from '../../server/errors.ts';
import { GitError, RefConflictError } from '../../server/git/errors.ts';
import { zeroSha } from '../../server/git/ref-name.ts';
import { readRef } from '../../server/git/refs.ts';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { withApp } from '../support/app.ts';
import { looseCommit } from '../support/loose-commit.ts';
import type { MadeProject } from '../support/make.ts';

const holder = withApp({ poolSize: 10 });

interface Scene {
  project: MadeProject;
  dir: string;
  move(change: Pick<RefMove, 'oldSha' | 'newSha'> & { ref?: string }): Promise<void>;
  /** What the project's events say, the oldest first. */
  events(): Promise<string[]>;
}

async function scene(): Promise<Scene> {
  const { app } = holder;
  const project = await app.make.project();
  return {
    project,
    dir: repositoryDir(app.services.repositoriesDir, project.id),
    move: (change) =>
      moveRef(app.work, {
        projectId: project.id,
        userId: project.owner.id,
        ref: 'refs/heads/topic',
        ...change,
      }),
    events: async () =>
      (
        await app.rows<{ text: string }>(
          `select action || ' ' || ref as text from events where project_id = $1 and ref is not null order by id`,
          [project.id],
        )
      ).map(({ text }) => text),
  };
}

test('a ref is made, moved and removed, and each is an event like that of a push', async (t) => {
  const at = await scene();
  const first = await looseCommit(holder.app, at.project);
  const second = await looseCommit(holder.app, at.project, first);
  await at.move({ oldSha: zeroSha, newSha: first });
  await at.move({ oldSha: first, newSha: second });
  t.is(await readRef(at.dir, 'refs/heads/topic'), second);
  await at.move({ ref: 'refs/heads/other', oldSha: zeroSha, newSha: first });
  await at.move({ ref: 'refs/heads/other', oldSha: first, newSha: zeroSha });
  t.is(await readRef(at.dir, 'refs/heads/other'), null);
  t.deepEqual(await at.events(), [
    'pushed new refs/heads/topic',
    'pushed to refs/heads/topic',
    'pushed new refs/heads/other',
    'deleted refs/heads/other',
  ]);
  t.deepEqual(
    await holder.app.rows('select default_branch from projects where id = $1', [at.project.id]),
    [{ default_branch: 'topic' }],
    'the first branch of a project becomes its default one',
  );
  t.deepEqual(await holder.app.rows('select 1 from pushes where project_id = $1', [at.project.id]), []);
});

test('of moves from one place at the same time, one happens and the others hear of it', async (t) => {
  const at = await scene();
  const base = await looseCommit(holder.app, at.project);
  await at.move({ oldSha: zeroSha, newSha: base });
  const targets = await Promise.all(
    Array.from({ length: 8 }, () => looseCommit(holder.app, at.project, base)),
  );
  const ends = await Promise.allSettled(targets.map((newSha) => at.move({ oldSha: base, newSha })));
  const faults = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
  t.is(faults.length, 7);
  t.true(faults.every((fault) => fault instanceof RefConflictError));
  t.is((await at.events()).length, 2);
  t.deepEqual(await holder.app.rows('select 1 from pushes where project_id = $1', [at.project.id]), []);
});

test('a ref that somebody else holds is a conflict; a name in the way is not', async (t) => {
  const at = await scene();
  const sha = await looseCommit(holder.app, at.project);
  await at.move({ oldSha: zeroSha, newSha: sha });
  const next = await looseCommit(holder.app, at.project, sha);
  const lock = join(at.dir, 'refs/heads/topic.lock');
  await (await open(lock, 'wx')).close();
  await t.throwsAsync(at.move({ oldSha: sha, newSha: next }), { instanceOf: RefConflictError });
  await rm(lock);
  const fault = await t.throwsAsync(at.move({ ref: 'refs/heads/topic/a', oldSha: zeroSha, newSha: sha }), {
    instanceOf: GitError,
  });
  t.false(fault instanceof RefConflictError);
  t.is((await at.events()).length, 1);
});

test('a user who was blocked meanwhile moves nothing', async (t) => {
  const at = await scene();
  const sha = await looseCommit(holder.app, at.project);
  await holder.app.rows(`update users set state = 'blocked' where id = $1`, [at.project.owner.id]);
  const fault = await t.throwsAsync(at.move({ oldSha: zeroSha, newSha: sha }), { instanceOf: AppError });
  t.is(fault?.status, 401);
  t.is(await readRef(at.dir, 'refs/heads/topic'), null);
});
