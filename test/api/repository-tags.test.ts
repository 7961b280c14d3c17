import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git, gitWithInput } from '../git/real-git.ts';
import { apiCalls, messageOf, statusesOf } from '../support/api-calls.ts';
import { withApp } from '../support/app.ts';
import { cloneUrl, withWorkTrees } from '../support/git.ts';
import { looseCommit } from '../support/loose-commit.ts';
import type { MadeProject } from '../support/make.ts';

const holder = withApp();
const trees = withWorkTrees();

interface Tag {
  name: string;
  message: string | null;
  commit: { id: string } | null;
  release: { tag_name: string; description: string } | null;
}
const call = apiCalls<Tag>(holder);

interface Scene {
  project: MadeProject;
  dir: string;
  sha: string;
  tags: string;
  /** Token of the owner. */
  as: string;
}

/** A project with a commit on `master`, its default branch. */
async function scene(): Promise<Scene> {
  const project = await holder.app.make.project({ columns: { default_branch: 'master' } });
  const dir = repositoryDir(holder.app.services.repositoriesDir, project.id);
  const sha = await looseCommit(holder.app, project);
  await git(dir, 'update-ref', 'refs/heads/master', sha);
  return { project, dir, sha, tags: `/projects/${project.id}/repository/tags`, as: project.owner.token };
}

test('tags come by name, the last one first, whatever they are tags of', async (t) => {
  const { dir, sha, tags, as } = await scene();
  const tree = await git(dir, 'rev-parse', `${sha}^{tree}`);
  await git(dir, 'tag', 'v1', sha);
  await git(dir, 'tag', '-a', '-m', 'Two\n\nlines', 'v2', sha);
  await git(dir, 'tag', '-a', '-m', 'A tag of a tag', 'v10', 'v2');
  await git(dir, 'tag', '-a', '-m', 'A tree', 'a/tree', tree);
  await git(dir, 'tag', 'bare-tree', tree);
  const { status, body, headers } = await call<Tag[]>('GET', tags, as);
  t.is(status, 200);
  t.deepEqual(
    body.map(({ name, message, commit, release }) => [name, message, commit?.id ?? null, release]),
    [
      ['v2', 'Two\n\nlines', sha, null],
      ['v10', 'A tag of a tag', sha, null],
      ['v1', null, sha, null],
      ['bare-tree', null, null, null],
      ['a/tree', 'A tree', null, null],
    ],
  );
  t.is(headers.get('x-total'), '5');
  t.deepEqual((await call('GET', `${tags}/a/tree`, as)).body, body[4]);
});

test('a message that is no UTF-8, or longer than can be shown, does no harm', async (t) => {
  const { dir, sha, tags, as } = await scene();
  const make = async (name: string, message: Buffer) => {
    const head = `object ${sha}\ntype commit\ntag ${name}\ntagger A <a@b> 1 +0000\n\n`;
    const input = Buffer.concat([Buffer.from(head), message]);
    const id = (await gitWithInput(dir, ['hash-object', '-t', 'tag', '-w', '--stdin'], input)).trim();
    await git(dir, 'update-ref', `refs/tags/${name}`, id);
  };
  await make('latin', Buffer.from('Gr\u00fc\u00dfe\n', 'latin1'));
  await make('long', Buffer.alloc(2 * 1024 * 1024, 'x'));
  const { body } = await call<Tag[]>('GET', tags, as);
  t.deepEqual(
    body.map(({ name, message, commit }) => [name, message, commit?.id]),
    [
      ['long', null, sha],
      ['latin', 'Grüße', sha],
    ],
  );
});

test('a light tag and one with a message are made, with a release if wanted', async (t) => {
  const { project, dir, sha, tags, as } = await scene();
  const light = await call('POST', tags, as, { tag_name: 'v1', ref: 'master' });
  t.is(light.status, 200);
  t.deepEqual(
    [light.body.name, light.body.message, light.body.commit?.id, light.body.release],
    ['v1', null, sha, null],
  );
  t.is(await git(dir, 'cat-file', '-t', 'refs/tags/v1'), 'commit');
  const message = 'Zwei: „größer“\n\n- besser\n';
  const made = await call('POST', tags, as, {
    tag_name: 'a/v2',
    ref: 'v1',
    message,
    release_description: '# Two',
  });
  const release = { tag_name: 'a/v2', description: '# Two' };
  t.deepEqual(
    [made.body.message, made.body.commit?.id, made.body.release],
    [message.trimEnd(), sha, release],
  );
  const format = '%(objecttype)|%(taggername)|%(taggeremail)|%(contents)|%(object)';
  t.is(
    await git(dir, 'for-each-ref', `--format=${format}`, 'refs/tags/a/v2'),
    `tag|Name of ${project.owner.username}|<${project.owner.username}@example.com>|${message}|${sha}`,
  );
  const age =
    Date.now() / 1000 -
    Number(await git(dir, 'for-each-ref', '--format=%(taggerdate:unix)', 'refs/tags/a/v2'));
  t.true(Math.abs(age) < 3600);
  t.is(await git(dir, 'fsck', '--strict', '--no-dangling'), '');
  const actions = await holder.app.rows<{ action: string; ref: string }>(
    'select action, ref from events where project_id = $1 order by id',
    [project.id],
  );
  t.deepEqual(actions, [
    { action: 'pushed new', ref: 'refs/tags/v1' },
    { action: 'pushed new', ref: 'refs/tags/a/v2' },
  ]);
});

test('a tagger with a name that git does not take is made one that it takes', async (t) => {
  const { project, dir, tags, as } = await scene();
  const names = { '<>': 'unnamed', 'A <b> c': 'A b c', 'Ü\u0007': 'Ü' };
  for (const [name, shown] of Object.entries(names)) {
    await holder.app.rows('update users set name = $2 where id = $1', [project.owner.id, name]);
    const tag = `by-${shown.length}-${name.length}`;
    t.is((await call('POST', tags, as, { tag_name: tag, ref: 'master', message: 'x' })).status, 200);
    t.is(await git(dir, 'for-each-ref', '--format=%(taggername)', `refs/tags/${tag}`), shown);
  }
});

test('what cannot be made is refused with the reason', async (t) => {
  const { dir, sha, tags, as } = await scene();
  await git(dir, 'tag', 'a/b', sha);
  const before = await git(dir, 'for-each-ref');
  const faults: [number, Record<string, unknown>, string][] = [
    [400, { ref: 'master' }, '400 (Bad request) "tag_name" not given'],
    [400, { tag_name: 'x' }, '400 (Bad request) "ref" not given'],
    [405, { tag_name: 'a/b', ref: 'master' }, 'Tag a/b already exists'],
    [405, { tag_name: 'x', ref: 'no where' }, 'Target no where is invalid'],
    [405, { tag_name: 'x', ref: 'no where', message: 'x' }, 'Target no where is invalid'],
    [405, { tag_name: 'a', ref: 'master', message: 'x' }, 'Another tag is in the way of this name'],
  ];
  for (const name of ['a..b', 'a b', '-x', 'HEAD', 'x.lock', 'refs/tags/x', 'x\ny', 'x'.repeat(250)]) {
    faults.push([405, { tag_name: name, ref: 'master', message: 'x' }, 'Tag name invalid']);
  }
  for (const [status, given, text] of faults) {
    const refused = await call('POST', tags, as, given);
    t.deepEqual([refused.status, messageOf(refused)], [status, text], JSON.stringify(given));
  }
  t.is(await git(dir, 'for-each-ref'), before);
});

test('of those who make a tag at once one makes it', async (t) => {
  const { tags, as } = await scene();
  const asked = Array.from({ length: 5 }, (_, index) =>
    call('POST', tags, as, { tag_name: 'v1', ref: 'master', message: `Number ${index}` }),
  );
  const answers = await Promise.all(asked);
  t.deepEqual(statusesOf(answers), [200, 405, 405, 405, 405]);
  const made = answers.find(({ status }) => status === 200);
  t.is((await call('GET', `${tags}/v1`, as)).body.message, made?.body.message ?? '');
});

test('a release is added once and changed, on tags that are there', async (t) => {
  const { dir, sha, tags, as } = await scene();
  await git(dir, 'tag', 'a/v1', sha);
  const send = async (method: string, tag: string, description?: string) => {
    const { status, body } = await call<unknown>(method, `${tags}/${tag}/release`, as, { description });
    return [status, body];
  };
  const says = (message: string) => ({ message });
  t.deepEqual(await send('PUT', 'a/v1', 'x'), [404, says('Release does not exist')]);
  t.deepEqual(await send('POST', 'a/v1'), [400, says('400 (Bad request) "description" not given')]);
  t.deepEqual(await send('POST', 'a/v1', '# One'), [201, { tag_name: 'a/v1', description: '# One' }]);
  t.deepEqual(await send('POST', 'a%2Fv1', 'Two'), [409, says('Release already exists')]);
  t.deepEqual((await call('GET', `${tags}/a/v1`, as)).body.release?.description, '# One');
  t.deepEqual(await send('PUT', 'a/v1', 'Two'), [200, { tag_name: 'a/v1', description: 'Two' }]);
  t.deepEqual((await call<Tag[]>('GET', tags, as)).body[0]?.release?.description, 'Two');
  for (const method of ['POST', 'PUT']) {
    for (const tag of ['v2', 'master', 'a', 'v1%5E%7Bcommit%7D']) {
      t.deepEqual(await send(method, tag, 'x'), [404, says('Tag does not exist')]);
    }
  }
});

test('the release of a tag goes with it, however it is removed, and is not that of a later one', async (t) => {
  const { project, dir, tags, as } = await scene();
  const url = cloneUrl(holder.app, project, { password: as });
  const make = () => call('POST', tags, as, { tag_name: 'v1', ref: 'master', release_description: 'One' });
  const tree = await trees.clone(url);
  t.is((await make()).body.release?.description, 'One');
  t.deepEqual((await call<unknown>('DELETE', `${tags}/v1`, as)).body, { tag_name: 'v1' });
  const again = await call('DELETE', `${tags}/v1`, as);
  t.deepEqual([again.status, messageOf(again)], [404, 'No such tag']);
  t.is((await call('POST', tags, as, { tag_name: 'v1', ref: 'master' })).body.release, null);
  await call('POST', `${tags}/v1/release`, as, { description: 'Two' });
  await tree.git('push', '--quiet', url, ':refs/tags/v1');
  t.is(await git(dir, 'for-each-ref', 'refs/tags'), '');
  t.deepEqual(await holder.app.rows('select tag from releases where project_id = $1', [project.id]), []);
});

test('tags come in pages', async (t) => {
  const { dir, sha, tags, as } = await scene();
  const lines = Array.from(
    { length: 101 },
    (_, index) => `create refs/tags/v${String(index).padStart(3, '0')} ${sha}\n`,
  );
  await gitWithInput(dir, ['update-ref', '--stdin'], lines.join(''));
  const { body, headers } = await call<Tag[]>('GET', `${tags}?per_page=100&page=2`, as);
  t.deepEqual([body.length, body[0]?.name, headers.get('x-total')], [1, 'v000', '101']);
  t.is((await call<Tag[]>('GET', `${tags}?page=9`, as)).body.length, 0);
});
