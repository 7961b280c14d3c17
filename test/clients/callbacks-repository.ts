import { client, done, handed, makeProject, many } from './callbacks-client.ts';
import { clientTest, type Place } from './client-test.ts';

clientTest('gitlab: files from the first commit on', async (t, place) => {
  const { repository } = client(place).projects;
  const { id } = await makeProject(place);
  for (const list of ['listBranches', 'listTags', 'listCommits']) {
    t.deepEqual(await many(repository, list, id), []);
  }
  const file = { projectId: id, file_path: 'docs/ü@home.md', branch_name: 'master' };
  const made = { file_name: file.file_path, file_path: file.file_path, branch_name: 'master' };
  const create = { ...file, content: 'one\n', commit_message: 'Begin' };
  t.deepEqual(await handed(repository, 'createFile', { ...create }), made);
  t.is(await handed(repository, 'createFile', { ...create }), true);
  const first = await done(repository, 'showFile', id, { file_path: file.file_path, ref: 'master' });
  t.like(first, { file_name: 'ü@home.md', encoding: 'base64', content: base64('one\n'), ref: 'master' });
  const change = { ...file, encoding: 'base64', content: base64('two\n'), commit_message: 'Change' };
  t.deepEqual(await handed(repository, 'updateFile', change), made);
  const second = await done(repository, 'showFile', {
    projectId: id,
    file_path: file.file_path,
    ref: 'master',
  });
  t.is(second.content, base64('two\n'));
  t.not(second.last_commit_id, first.last_commit_id);
  const blob = { file_path: file.file_path, file_id: first.blob_id };
  t.is(await handed(repository, 'showFile', id, blob), 'one\n');
  const absent = { projectId: id, file_path: 'none', branch_name: 'master' };
  t.is(await handed(repository, 'updateFile', { ...absent, content: 'a', commit_message: 'No' }), null);
  t.is(await handed(repository, 'showFile', id, { file_path: 'none', ref: 'master' }), null);
});

clientTest('gitlab: trees', async (t, place) => {
  const { repository } = client(place).projects;
  const { id } = await makeSite(place);
  const names = async (params: object) =>
    (await many(repository, 'listTree', id, params)).map(({ name, type }) => `${type} ${name}`);
  t.deepEqual(await names({}), ['tree docs', 'blob a.txt']);
  t.deepEqual(await names({ path: 'docs', ref_name: 'master' }), ['blob b.txt']);
  t.deepEqual(await names({ path: 'docs', ref_name: 'topic/one' }), ['blob b.txt', 'blob c.txt']);
  t.is(await handed(repository, 'listTree', id, { ref_name: 'none' }), null);
  t.is((await many(repository, 'listTree', id)).length, 2);
});

clientTest('gitlab: branches', async (t, place) => {
  const { repository } = client(place).projects;
  const { id, path } = await makeSite(place);
  const branches = await many(repository, 'listBranches', path);
  t.deepEqual(
    branches.map(({ name }) => name),
    ['master', 'topic/one'],
  );
  t.like(await done(repository, 'showBranch', id, 'master'), { name: 'master', protected: true });
  const topic = await done(repository, 'showBranch', id, 'topic/one');
  t.deepEqual(topic, branches[1]);
  t.like(topic, { protected: false, commit: { message: 'Add docs/c.txt', author_name: 'Administrator' } });
  const guarded = { name: 'topic/one', protected: true, developers_can_push: true };
  const rights = { developers_can_push: true };
  t.like(await done(repository, 'protectBranch', id, 'topic/one', rights), guarded);
  t.like(await done(repository, 'protectBranch', id, 'topic/one', {}), guarded);
  t.is(await handed(repository, 'deleteBranch', id, 'topic/one'), false);
  for (let times = 0; times < 2; times++) {
    t.like(await done(repository, 'unprotectBranch', id, 'topic/one'), { protected: false });
  }
  t.is(await handed(repository, 'deleteBranch', id, 'topic/one'), true);
  t.is(await handed(repository, 'showBranch', id, 'topic/one'), null);
  t.is(await handed(repository, 'protectBranch', id, 'topic/one', {}), null);
});

clientTest('gitlab: tags', async (t, place) => {
  const { projects } = client(place);
  const { repository } = projects;
  const { id } = await makeSite(place);
  const light = await done(repository, 'addTag', { id, tag_name: 'v1.0', ref: 'master' });
  t.like(light, { name: 'v1.0', message: null, release: null, commit: { message: 'Add docs/b.txt' } });
  const more = { message: 'The second', release_description: 'Better' };
  const given = { id, tag_name: 'v2.0', ref: 'topic/one', ...more };
  const full = await done(repository, 'addTag', { ...given });
  t.like(full, { message: 'The second', release: { tag_name: 'v2.0', description: 'Better' } });
  t.is(await handed(repository, 'addTag', { ...given }), true);
  t.deepEqual(await done(repository, 'showTag', id, 'v2.0'), full);
  t.deepEqual(await many(repository, 'listTags', id), [full, light]);
  t.deepEqual(await many(projects, 'listTags', { id }), [full, light]);
  t.is(await handed(repository, 'deleteTag', id, 'v1.0'), true);
  t.is(await handed(repository, 'deleteTag', id, 'v1.0'), false);
  t.is(await handed(repository, 'showTag', id, 'v1.0'), null);
});

clientTest('gitlab: commits and what they changed', async (t, place) => {
  const { projects } = client(place);
  const { repository } = projects;
  const { id } = await makeSite(place);
  const commits = await many(repository, 'listCommits', id);
  t.deepEqual(
    commits.map(({ title }) => title),
    ['Add docs/b.txt', 'Add a.txt'],
  );
  t.is((await many(projects, 'listCommits', { id, ref_name: 'topic/one' })).length, 3);
  t.deepEqual(await many(projects, 'listCommits', { id, page: 2, per_page: 1 }), commits.slice(1));
  const newest = commits[0]?.id;
  t.like(await done(repository, 'showCommit', id, newest), { id: newest, parent_ids: [commits[1]?.id] });
  t.like(await done(repository, 'showCommit', id, 'topic/one'), { title: 'Add docs/c.txt', status: null });
  t.is(await handed(repository, 'showCommit', id, 'none'), null);
  const [diff] = await many(repository, 'diffCommit', id, newest);
  t.like(diff, { new_path: 'docs/b.txt', new_file: true, deleted_file: false });
  t.true(String(diff?.diff).endsWith('@@ -0,0 +1 @@\n+docs/b.txt\n'));
  const compared = await done(repository, 'compare', { projectId: id, from: 'master', to: 'topic/one' });
  t.like(compared, { commit: { title: 'Add docs/c.txt' }, compare_same_ref: false, compare_timeout: false });
  t.like(compared.commits, { length: 1 });
  t.like(compared.diffs, { length: 1, 0: { new_path: 'docs/c.txt', new_file: true } });
  const same = { projectId: id, from: 'master', to: String(newest) };
  t.like(await done(repository, 'compare', same), { commit: null, commits: [], compare_same_ref: true });
});

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Two files on `master`, and a third on `topic/one`, each in a commit of its own and holding its path. */
async function makeSite(place: Place): Promise<{ id: number; path: string }> {
  const { repository } = client(place).projects;
  const { id, path_with_namespace: path } = await makeProject(place);
  const add = (branch_name: string, file_path: string) => {
    const content = `${file_path}\n`;
    const file = { projectId: id, file_path, branch_name, content, commit_message: `Add ${file_path}` };
    return done(repository, 'createFile', file);
  };
  await add('master', 'a.txt');
  await add('master', 'docs/b.txt');
  await done(repository, 'createBranch', { projectId: id, branch_name: 'topic/one', ref: 'master' });
  await add('topic/one', 'docs/c.txt');
  return { id, path: String(path) };
}
