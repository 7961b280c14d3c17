import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { rootToken, withApp } from '../support/app.ts';
import { type ImportedCommit, importCommits } from '../support/import-commits.ts';

const holder = withApp();

async function contributors(commits: readonly ImportedCommit[], query: Record<string, string> = {}) {
  const { app } = holder;
  const project = await app.make.project({ columns: { default_branch: 'trunk' } });
  const dir = repositoryDir(app.services.repositoriesDir, project.id);
  if (commits.length > 0) await importCommits(dir, 'trunk', commits);
  const path = `/api/v3/projects/${project.id}/repository/contributors`;
  return app.call<Record<string, unknown>[]>('GET', path, { as: rootToken, query });
}

const by = (name: string, email: string) => ({ author: `${name} <${email}> 1400000000 +0000` });

test('commits and lines by e-mail address, who wrote last first, under his newest name', async (t) => {
  const { status, body, headers } = await contributors([
    { ...by('Ann', 'ann@example.org'), files: { a: '1\n2\n3\n' } },
    { ...by('Bob', 'bob@example.org'), files: { a: '1\n3\n4\n' } },
    { ...by('Cy', 'cy@example.org'), files: { b: Buffer.from([0, 1]) } },
    { ...by('Ann B', 'ann@example.org'), files: { a: null } },
  ]);
  t.is(status, 200);
  t.is(headers.get('x-total'), '3');
  t.deepEqual(body, [
    { name: 'Ann B', email: 'ann@example.org', commits: 2, additions: 3, deletions: 3 },
    { name: 'Cy', email: 'cy@example.org', commits: 1, additions: 0, deletions: 0 },
    { name: 'Bob', email: 'bob@example.org', commits: 1, additions: 1, deletions: 1 },
  ]);
});

test('who only merged contributed nothing', async (t) => {
  const { body } = await contributors([
    by('Ann', 'ann@example.org'),
    { parents: [0], ...by('Ann', 'ann@example.org') },
    { parents: [0, 1], ...by('Mia', 'mia@example.org') },
  ]);
  t.deepEqual(
    body.map(({ name, commits }) => [name, commits]),
    [['Ann', 2]],
  );
});

test('names in any encoding, addresses that are none', async (t) => {
  const { body } = await contributors([
    { author: 'Zoë <zoe@exämple.org> 1400000000 +0000' },
    { author: Buffer.from('Ren\xe9 <rene@example.org> 1400000000 +0000', 'latin1') },
    { author: 'Nobody <> 1400000000 +0000' },
  ]);
  t.deepEqual(
    body.map(({ name, email }) => [name, email]),
    [
      ['Nobody', ''],
      ['René', 'rene@example.org'],
      ['Zoë', 'zoe@exämple.org'],
    ],
  );
});

test('they come in pages', async (t) => {
  const commits = ['a', 'b', 'c'].map((name) => by(name, `${name}@example.org`));
  const { body, headers } = await contributors(commits, { page: '2', per_page: '2' });
  t.is(headers.get('x-total'), '3');
  t.deepEqual(
    body.map(({ name }) => name),
    ['a'],
  );
});

test('only the newest two thousand commits are looked at', async (t) => {
  const old = by('Old', 'old@example.org');
  const { body } = await contributors([
    old,
    old,
    ...Array.from({ length: 1999 }, () => by('New', 'n@x.org')),
  ]);
  t.deepEqual(
    body.map(({ name, commits }) => [name, commits]),
    [
      ['New', 1999],
      ['Old', 1],
    ],
  );
});

test('nobody has contributed to an empty repository', async (t) => {
  const { status, body, headers } = await contributors([]);
  t.deepEqual([status, body, headers.get('x-total')], [200, [], '0']);
});
