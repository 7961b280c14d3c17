import { clientTest, type Place } from './client-test.ts';
import { callback, client, makeProject, many, one, refused } from './forms-client.ts';

clientTest('node-gitlab: files from the first commit on', async (t, place) => {
  const { repository, repositoryFiles: files } = client(place);
  const { id } = await makeProject(place);
  t.deepEqual(await many(repository.getBranches({ id })), []);
  const file = { id, file_path: 'a@b/ü.txt', branch_name: 'master' };
  const made = { file_name: file.file_path, file_path: file.file_path, branch_name: 'master' };
  const create = { ...file, content: 'one = 1 & more\n', commit_message: 'Begin' };
  t.deepEqual(await files.create({ ...create }), made);
  await refused(t, files.create({ ...create }), 400);
  await refused(t, files.create({ ...create, file_path: 'a & b.txt' }), 400);
  const shown = { id, file_path: file.file_path, ref: 'master' };
  t.is(text((await one(files.get({ ...shown }))).content), 'one = 1 & more\n');
  const bytes = Buffer.from([0, 255, 254, 10]).toString('base64');
  const change = { ...file, encoding: 'base64', content: bytes, commit_message: 'Change' };
  t.deepEqual(await files.update({ ...change }), made);
  t.like(await one(files.get({ ...shown })), { content: bytes, size: 4, encoding: 'base64' });
  t.deepEqual(await files.remove({ ...file, commit_message: 'Remove' }), made);
  await refused(t, files.get({ ...shown }), 404);
  await refused(t, files.remove({ ...file, commit_message: 'Remove' }), 400);
  await refused(t, files.update({ ...change }), 400);
  t.deepEqual(
    (await many(repository.getCommits({ id }))).map(({ title }) => title),
    ['Remove', 'Change', 'Begin'],
  );
});

clientTest('node-gitlab: branches', async (t, place) => {
  const { repository, repositoryBranches: branches } = client(place);
  const id = await makeShop(place);
  const branch = 'topic/one';
  t.like(await one(branches.get({ id, branch })), { name: branch, protected: false });
  t.deepEqual(await branches.list({ id }), await repository.getBranches({ id }));
  t.is((await many(branches.list({ id }))).length, 2);
  await refused(t, branches.create({ id, branch_name: branch, ref: 'master' }), 400);
  await refused(t, branches.create({ id, branch_name: 'other', ref: 'none' }), 400);
  for (let times = 0; times < 2; times++) {
    t.like(await one(repository.protectBranch({ id, branch })), { name: branch, protected: true });
  }
  const rights = { id, branch, developers_can_push: true };
  t.like(await one(repository.protectBranch(rights)), { developers_can_push: true });
  t.like(await one(repository.getBranch({ id, branch })), { protected: true, developers_can_push: true });
  await refused(t, branches.remove({ id, branch }), 400);
  t.like(await one(repository.unprotectBranch({ id, branch })), { protected: false });
  t.deepEqual(await branches.remove({ id, branch }), { branch_name: branch });
  await refused(t, branches.remove({ id, branch }), 404);
  await refused(t, repository.getBranch({ id, branch }), 404);
});

clientTest('node-gitlab: tags', async (t, place) => {
  const { repository } = client(place);
  const id = await makeShop(place);
  const given = {
    id,
    tag_name: 'v1.0',
    ref: 'master',
    message: 'First\nof all',
    release_description: '# One',
  };
  const tag = await callback(place, 'createTag', { ...given });
  t.like(tag, { name: 'v1.0', release: { description: '# One' }, commit: { message: 'Add a.txt' } });
  t.regex(String((tag as Record<string, unknown>).message), /^First\nof all/);
  t.deepEqual(await repository.getTags({ id }), [tag]);
  await refused(t, callback(place, 'createTag', { ...given }), 405);
  await refused(t, callback(place, 'createTag', { id, tag_name: 'v2.0', ref: 'none' }), 405);
});

clientTest('node-gitlab: commits, trees and comparisons', async (t, place) => {
  const { repository } = client(place);
  const id = await makeShop(place);
  const commits = await many(repository.getCommits({ id, ref_name: 'topic/one' }));
  t.deepEqual(
    commits.map(({ title }) => title),
    ['Add docs/b.txt', 'Add a.txt'],
  );
  t.deepEqual(await repository.getCommits({ id, ref_name: 'master' }), commits.slice(1));
  t.deepEqual(await repository.getCommits({ id, ref_name: 'none' }), []);
  const tree = await many(repository.getTree({ id, ref_name: 'topic/one', path: 'docs' }));
  t.deepEqual(
    tree.map(({ name }) => name),
    ['b.txt'],
  );
  t.is((await many(repository.getTree({ id }))).length, 1);
  const compared = await one(repository.compare({ id, from: 'master', to: 'topic/one' }));
  t.like(compared, { commit: { id: commits[0]?.id }, commits: { length: 1 } });
  t.like(compared.diffs, { length: 1, 0: { new_path: 'docs/b.txt' } });
});

clientTest('node-gitlab: blobs and archives', async (t, place) => {
  const { repository, repositoryFiles: files } = client(place);
  const id = await makeShop(place);
  const blob = { id, sha: 'topic/one', filepath: 'docs/b.txt' };
  t.deepEqual(await repository.getBlob({ ...blob }), Buffer.from('docs/b.txt\n'));
  await refused(t, repository.getBlob({ ...blob, filepath: 'none' }), 404);
  const { blob_id: sha } = await one(files.get({ id, file_path: 'a.txt', ref: 'master' }));
  t.deepEqual(await callback(place, 'getRawBlob', { id, sha }), Buffer.from('a.txt\n'));
  const archive = await repository.archive({ id, sha: 'topic/one' });
  if (!Buffer.isBuffer(archive)) throw new Error('no bytes');
  t.deepEqual([...archive.subarray(0, 2)], [0x1f, 0x8b]);
  t.deepEqual(await repository.archive({ id, sha: 'topic/one' }), archive);
  await refused(t, repository.archive({ id, sha: 'none' }), 404);
});

function text(base64: unknown): string {
  return Buffer.from(String(base64), 'base64').toString();
}

/** A file on `master`, and another one on `topic/one`, each in a commit of its own and holding its path. */
async function makeShop(place: Place): Promise<number> {
  const { repositoryBranches: branches, repositoryFiles: files } = client(place);
  const { id } = await makeProject(place);
  const add = (branch_name: string, file_path: string) =>
    files.create({
      ...{ id, file_path, branch_name },
      ...{ content: `${file_path}\n`, commit_message: `Add ${file_path}` },
    });
  await add('master', 'a.txt');
  await branches.create({ id, branch_name: 'topic/one', ref: 'master' });
  await add('topic/one', 'docs/b.txt');
  return id;
}
