import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';
import { zeroSha } from '../../server/git/ref-name.ts';
import { readRef } from '../../server/git/refs.ts';
import { cloneUrl } from '../support/git.ts';
import { ciFile, withPushes } from '../support/pushes.ts';

const { holder, trees, empty, filled, pipelines, builds, events, outstanding } = withPushes();
const run = promisify(execFile);

test('a push of a new branch makes a pipeline, its first builds, and an event', async (t) => {
  const { project, sha, dir } = await filled();
  t.deepEqual(await pipelines(project), [
    {
      ref: 'master',
      tag: false,
      sha,
      before_sha: zeroSha,
      status: 'pending',
      yaml_errors: null,
      user_id: project.owner.id,
    },
  ]);
  t.deepEqual(await builds(project), [{ name: 'compile', status: 'pending' }]);
  const [event] = await events(project);
  t.is(event?.action, 'pushed new');
  t.is(event?.author_id, project.owner.id);
  const url = `${holder.app.url}/${project.fullPath}`;
  t.deepEqual(event?.data, {
    before: zeroSha,
    after: sha,
    ref: 'refs/heads/master',
    user_id: project.owner.id,
    user_name: `Name of ${project.owner.username}`,
    repository: {
      name: project.path,
      url: `git@127.0.0.1:${project.fullPath}.git`,
      description: null,
      homepage: url,
    },
    commits: [
      {
        id: sha,
        message: 'Change\n',
        timestamp: '2016-06-03T03:43:20-03:30',
        url: `${url}/commit/${sha}`,
        author: { name: 'Ada Lovelace', email: 'ada@example.org' },
      },
    ],
    total_commits_count: 1,
  });
  t.is(await readRef(dir, `refs/keep-around/${sha}`), null, 'the branch keeps the commit for its builds');
  t.is(await outstanding(project), 0);
  const jobs = await holder.app.rows(
    `select key from graphile_worker.jobs
     where key in (select 'settle_push:' || push_id from events where project_id = $1)`,
    [project.id],
  );
  t.deepEqual(jobs, [], 'nothing is left to do later');
});

test('a later push has the old tip before it, one pipeline for its tip, and all of its commits', async (t) => {
  const { project, tree, url, sha } = await filled();
  for (let index = 1; index <= 23; index += 1) await tree.commit({}, `Commit ${index}`);
  const tip = await tree.head();
  await tree.git('push', '--quiet', url, 'master');
  t.deepEqual(
    (await pipelines(project)).map((pipeline) => [pipeline.before_sha, pipeline.sha]),
    [
      [zeroSha, sha],
      [sha, tip],
    ],
  );
  const event = (await events(project)).at(-1);
  t.is(event?.action, 'pushed to');
  t.is(event?.data.total_commits_count, 23);
  t.is(event?.data.commits.length, 20);
  t.is(event?.data.commits[0]?.message, 'Commit 4\n', 'oldest first');
  t.is(event?.data.commits.at(-1)?.id, tip);
});

test('a new branch brings what the default one does not have', async (t) => {
  const { project, tree, url, sha } = await filled();
  await tree.git('push', '--quiet', url, 'HEAD:same');
  await tree.commit({}, 'More');
  await tree.git('push', '--quiet', url, 'HEAD:side');
  const [, same, side] = await events(project);
  t.is(same?.data.total_commits_count, 0);
  t.deepEqual(
    side?.data.commits.map(({ message }) => message),
    ['More\n'],
  );
  t.is((await pipelines(project))[1]?.sha, sha, 'a pipeline of its own for the same commit');
});

test('a tag makes a pipeline at its commit, an annotated one too', async (t) => {
  const { project, tree, url, sha } = await filled();
  await tree.git('tag', 'light');
  await tree.git('tag', '--annotate', '--message=First', 'heavy');
  await tree.git('push', '--quiet', url, '--tags');
  const object = await tree.git('rev-parse', 'heavy');
  t.not(object, sha);
  const made = (await pipelines(project)).filter(({ tag }) => tag);
  t.deepEqual(made.map(({ ref, sha }) => [ref, sha]).sort(), [
    ['heavy', sha],
    ['light', sha],
  ]);
  const event = (await events(project)).find(({ ref }) => ref === 'refs/tags/heavy');
  t.is(event?.action, 'pushed new');
  t.is(event?.data.after, object);
  t.is(event?.data.total_commits_count, 1);
  t.deepEqual(
    event?.data.commits.map(({ id, message }) => [id, message]),
    [[sha, 'Change\n']],
    'the commit that it stands for',
  );
});

test('a tag of something else than a commit, and one that goes, bring none', async (t) => {
  const { project, tree, url } = await filled();
  await tree.git('tag', 'files', 'HEAD^{tree}');
  await tree.git('tag', 'gone');
  await tree.git('push', '--quiet', url, '--tags');
  await tree.git('push', '--quiet', url, ':refs/tags/gone');
  const tags = (await events(project)).filter(({ ref }) => ref !== 'refs/heads/master');
  t.deepEqual(tags.map(({ ref, action, data }) => [ref, action, data.total_commits_count]).sort(), [
    ['refs/tags/files', 'pushed new', 0],
    ['refs/tags/gone', 'deleted', 0],
    ['refs/tags/gone', 'pushed new', 1],
  ]);
});

test('a branch and a tag of one name each get a pipeline', async (t) => {
  const { project, tree, url } = await filled();
  await tree.git('push', '--quiet', url, 'HEAD:refs/heads/v1', 'HEAD:refs/tags/v1');
  const made = (await pipelines(project)).slice(1);
  t.deepEqual(made.map(({ ref, tag }) => [ref, tag]).sort(), [
    ['v1', false],
    ['v1', true],
  ]);
});

test('a tag of something that is no commit has no pipeline', async (t) => {
  const { project, tree, url } = await filled();
  await tree.git('push', '--quiet', url, 'HEAD:refs/heads/x', 'HEAD^{tree}:refs/tags/tree');
  t.deepEqual(
    (await pipelines(project)).map(({ ref }) => ref),
    ['master', 'x'],
  );
  t.is((await events(project)).length, 3);
});

test('a deletion is an event and nothing else', async (t) => {
  const { project, tree, url, dir, sha } = await filled();
  await tree.git('push', '--quiet', url, 'HEAD:side', 'HEAD:refs/tags/v1');
  await tree.git('push', '--quiet', url, ':side', ':refs/tags/v1');
  t.is(await readRef(dir, 'refs/heads/side'), null);
  t.is((await pipelines(project)).length, 3);
  const gone = (await events(project)).slice(3);
  t.deepEqual(gone.map(({ action, ref }) => [action, ref]).sort(), [
    ['deleted', 'refs/heads/side'],
    ['deleted', 'refs/tags/v1'],
  ]);
  t.is(gone[0]?.data.before, sha);
  t.is(gone[0]?.data.after, zeroSha);
});

test('the default branch cannot be deleted', async (t) => {
  const { tree, url, dir, project } = await filled();
  const ran = await tree.try('push', url, ':master');
  t.not(ran.code, 0);
  t.truthy(await readRef(dir, 'refs/heads/master'));
  t.is((await events(project)).length, 1);
});

test('a branch that was deleted and made anew is a new one', async (t) => {
  const { project, tree, url } = await filled();
  for (const refspec of ['HEAD:side', ':side', 'HEAD:side']) await tree.git('push', '--quiet', url, refspec);
  t.deepEqual(
    (await events(project)).map(({ action }) => action),
    ['pushed new', 'pushed new', 'deleted', 'pushed new'],
  );
  t.is((await pipelines(project)).length, 3);
});

test('a forced push is one like any other', async (t) => {
  const { project, tree, url, sha } = await filled();
  await tree.git('push', '--quiet', url, 'master:topic');
  await tree.git('commit', '--quiet', '--amend', '--message=Other');
  const refused = await tree.try('push', url, 'master:topic');
  t.not(refused.code, 0);
  t.is((await pipelines(project)).length, 2);
  await tree.git('push', '--quiet', '--force', url, 'master:topic');
  const made = await pipelines(project);
  t.deepEqual([made.length, made[2]?.before_sha, made[2]?.sha], [3, sha, await tree.head()]);
  const event = (await events(project)).at(-1);
  t.deepEqual([event?.action, event?.data.total_commits_count], ['pushed to', 1]);
  await tree.git('push', '--quiet', url, `+${sha}:topic`);
  t.is((await pipelines(project)).length, 4, 'back to where it was, again a push');
});

test('of many refs at once the first twenty get a pipeline, and all an event', async (t) => {
  const { project, tree, url } = await filled();
  const refspecs = Array.from(
    { length: 25 },
    (_, index) => `HEAD:refs/tags/v${String(index).padStart(2, '0')}`,
  );
  await tree.git('push', '--quiet', url, ...refspecs);
  t.is((await pipelines(project)).length, 21);
  t.is((await events(project)).length, 26);
  t.true(holder.app.logLines.some((line) => /no pipelines for so many refs/.test(line)));
});

test('of a push that git refuses in part, what was done has its consequences', async (t) => {
  const { project, tree, url } = await filled();
  await tree.git('push', '--quiet', url, 'HEAD:refs/heads/a/b');
  const ran = await tree.try('push', url, 'HEAD:refs/heads/a', 'HEAD:refs/heads/c');
  t.not(ran.code, 0);
  t.deepEqual(
    (await pipelines(project)).map(({ ref }) => ref),
    ['master', 'a/b', 'c'],
  );
  t.is(await outstanding(project), 0);
});

test('a push that would not change anything leaves nothing', async (t) => {
  const { project, tree, url } = await filled();
  await tree.git('push', '--quiet', url, 'master');
  t.is((await events(project)).length, 1);
});

for (const [branches, expected] of [
  [['master'], 'master'],
  [['main'], 'main'],
  [['trunk'], 'trunk'],
  [['a', 'main', 'z'], 'main'],
  [['b', 'a'], 'b'],
] as const) {
  test(`of the first branches ${branches} the default one is ${expected}`, async (t) => {
    const { project, tree, url } = await empty();
    await tree.commit();
    await tree.git('push', '--quiet', url, ...branches.map((name) => `HEAD:refs/heads/${name}`));
    const [row] = await holder.app.rows('select default_branch from projects where id = $1', [project.id]);
    t.deepEqual(row, { default_branch: expected });
    const copy = await trees.clone(url);
    t.is(await copy.git('symbolic-ref', '--short', 'HEAD'), expected);
  });
}

test('tags alone make no default branch, and later branches change none', async (t) => {
  const { project, tree, url } = await empty();
  await tree.commit();
  const branch = async () =>
    (
      await holder.app.rows<{ default_branch: string }>('select default_branch from projects where id = $1', [
        project.id,
      ])
    )[0]?.default_branch;
  await tree.git('push', '--quiet', url, 'HEAD:refs/tags/v1');
  t.is(await branch(), null as never);
  await tree.git('push', '--quiet', url, 'HEAD:refs/heads/trunk');
  await tree.git('push', '--quiet', url, 'HEAD:refs/heads/master');
  t.is(await branch(), 'trunk');
});

test('odd names of refs are taken, and unusable ones refused', async (t) => {
  const { project, tree, url } = await filled();
  const odd = ['füße/✓', "it's", 'a"b', '$(x)', '`x`', '%2e', 'a;b&c|d', 'a/refs/b', '@', '日本語'];
  await tree.git('push', '--quiet', url, ...odd.map((name) => `HEAD:refs/heads/${name}`));
  t.deepEqual(
    (await pipelines(project))
      .slice(1)
      .map(({ ref }) => ref)
      .sort(),
    [...odd].sort(),
  );
  for (const name of ['-x', 'HEAD', 'refs/heads/master', 'x'.repeat(250), `${'y/'.repeat(130)}y`]) {
    const ran = await tree.try('push', url, `HEAD:refs/heads/${name}`);
    t.regex(ran.stderr, /\[remote rejected\].*cannot start with a dash/s, name.slice(0, 10));
  }
  await tree.git('push', '--quiet', url, 'HEAD:refs/notes/x', 'HEAD:refs/pull/1/head');
  t.is((await pipelines(project)).length, 1 + odd.length, 'other refs have none');
  t.is((await events(project)).length, 1 + odd.length);
});

test('a first branch of a long name becomes the default one', async (t) => {
  const { project, tree, url } = await empty();
  await tree.commit({ '.gitlab-ci.yml': ciFile });
  const name = 'ü'.repeat(120);
  await tree.git('push', '--quiet', url, `HEAD:refs/heads/${name}`);
  t.deepEqual(
    (await pipelines(project)).map(({ ref }) => ref),
    [name],
  );
});

test('odd commits are read: without a message, with NUL, of a hundred kilobytes, in another encoding', async (t) => {
  const { project, tree, url } = await filled();
  const treeId = await tree.git('rev-parse', 'HEAD^{tree}');
  const make = async (message: Buffer, header = ''): Promise<string> => {
    const who = 'Ada <ada@example.org> 1464937902 +0530';
    const head = `tree ${treeId}\nauthor ${who}\ncommitter ${who}\n${header}\n`;
    const child = run('git', ['hash-object', '-t', 'commit', '-w', '--literally', '--stdin'], {
      cwd: tree.dir,
    });
    child.child.stdin?.end(Buffer.concat([Buffer.from(head), message]));
    return (await child).stdout.trim();
  };
  const odd = {
    silent: await make(Buffer.alloc(0)),
    long: await make(Buffer.from(`Title\n\n${'é'.repeat(100_000)}`)),
    latin: await make(Buffer.from('gr\xfc\xdfe', 'latin1'), 'encoding ISO-8859-1\n'),
  };
  const refspecs = Object.entries(odd).map(([name, sha]) => `${sha}:refs/heads/${name}`);
  await tree.git('push', '--quiet', url, ...refspecs);
  const rows = await holder.app.rows<{ ref: string; message: string }>(
    `select ref, commit->>'message' as message from pipelines where project_id = $1 and ref <> 'master'`,
    [project.id],
  );
  const messages = Object.fromEntries(rows.map(({ ref, message }) => [ref, message]));
  t.is(messages.silent, '');
  t.is(messages.latin, 'grüße');
  t.is(messages.long?.length, 32_768, 'cut, or no program could be started with it');
});

test('an existing tag is moved and deleted by masters only', async (t) => {
  const { project, tree, url, dir, sha } = await filled();
  await tree.git('push', '--quiet', url, 'HEAD:refs/tags/v1', 'HEAD:refs/tags/v2');
  const next = await tree.commit();
  const developer = await holder.app.make.member(project, 'developer');
  const byDeveloper = cloneUrl(holder.app, project, { password: developer.token });
  for (const refspec of ['+HEAD:refs/tags/v1', ':refs/tags/v1']) {
    const ran = await tree.try('push', byDeveloper, refspec, 'HEAD:refs/heads/beside');
    t.regex(ran.stderr, /\[remote rejected\].*You are not allowed to change existing tags on this project\./);
    t.is(await readRef(dir, 'refs/tags/v1'), sha);
    t.is(await readRef(dir, 'refs/heads/beside'), null);
  }
  await tree.git('push', '--quiet', byDeveloper, 'HEAD:refs/tags/v3');
  const master = await holder.app.make.member(project, 'master');
  const byMaster = cloneUrl(holder.app, project, { password: master.token });
  await tree.git('push', '--quiet', byMaster, '+HEAD:refs/tags/v1', ':refs/tags/v2');
  t.is(await readRef(dir, 'refs/tags/v1'), next);
  t.is(await readRef(dir, 'refs/tags/v2'), null);
  const moved = (await events(project)).filter(({ ref }) => ref === 'refs/tags/v1').at(-1);
  t.deepEqual([moved?.action, moved?.data.before, moved?.author_id], ['pushed to', sha, master.id]);
  const last = (await pipelines(project)).at(-1);
  t.deepEqual([last?.ref, last?.tag, last?.before_sha, last?.sha], ['v1', true, sha, next]);
});

test('the answer of a push comes when its pipeline is there', async (t) => {
  const { project, tree, url } = await filled();
  for (let index = 0; index < 5; index += 1) {
    await tree.commit();
    await tree.git('push', '--quiet', url, 'master');
    t.is((await pipelines(project)).length, index + 2);
  }
});

test('the activity of a project is that of its pushes', async (t) => {
  const { project, tree, url } = await empty();
  await holder.app.rows(`update projects set last_activity_at = '2001-01-01' where id = $1`, [project.id]);
  await tree.commit();
  await tree.git('push', '--quiet', url, 'master');
  const [row] = await holder.app.rows<{ last_activity_at: Date }>(
    'select last_activity_at from projects where id = $1',
    [project.id],
  );
  t.true(Date.now() - Number(row?.last_activity_at) < 600_000);
});
