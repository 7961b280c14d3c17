import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git } from '../git/real-git.ts';
import { type Answer, withApp } from '../support/app.ts';
import { importCommits } from '../support/import-commits.ts';

const holder = withApp();

/** A project whose `f` holds the title of its commit, on the given branches and tags. */
async function scene(named: Record<string, 'One' | 'Two'>) {
  const { app } = holder;
  const project = await app.make.project({ columns: { default_branch: 'master' } });
  const dir = repositoryDir(app.services.repositoriesDir, project.id);
  const commits = ['One', 'Two'].map((message) => ({ message, files: { f: message } }));
  const [one = '', two = ''] = await importCommits(dir, 'master', commits);
  for (const [ref, title] of Object.entries(named)) {
    await git(dir, 'update-ref', `refs/${ref}`, title === 'One' ? one : two);
  }
  const base = `/api/v3/projects/${project.id}`;
  const as = project.owner.token;
  const get = (path: string): Promise<Answer<Shown>> => app.call('GET', `${base}${path}`, { as });
  const file = async (path: string) => {
    const url = `${app.url}${base}/repository/${path}?filepath=f`;
    const answer = await fetch(url, { headers: { 'PRIVATE-TOKEN': as } });
    return answer.ok ? answer.text() : String(answer.status);
  };
  /** What each of the ways that end in a name makes of it. */
  const told = async (name: string) => {
    const commit = await get(`/repository/commits/${name}`);
    const posted = await app.call<Shown>('POST', `${base}/statuses/${name}`, {
      as,
      json: { state: 'success' },
    });
    const ofSha = posted.body.sha === one ? 'One' : 'Two';
    return [
      commit.body.title ?? String(commit.status),
      await file(`blobs/${name}`),
      posted.status === 201 ? ofSha : String(posted.status),
    ];
  };
  return { get, file, told, one };
}

interface Shown {
  title?: string;
  name?: string;
  sha?: string;
}

test('a branch or tag whose name ends like the suffix of a path is found by it', async (t) => {
  const at = await scene({ 'heads/v1.json': 'One', 'tags/a/b.json': 'One' });
  for (const name of ['v1.json', 'v1.json/', 'v1.json.json', 'a/b.json', 'a%2Fb.json']) {
    t.deepEqual(await at.told(name), ['One', 'One', 'One'], name);
  }
  t.is(await at.file('commits/v1.json/blob'), 'One');
  t.is((await at.get('/repository/branches/v1.json')).body.name, 'v1.json');
  t.is((await at.get('/repository/tags/a/b.json')).body.name, 'a/b.json');
});

test('where there is no such name the suffix means nothing', async (t) => {
  const at = await scene({ 'heads/v1': 'One' });
  for (const name of ['v1', 'v1.json', `${at.one}.json`]) {
    t.deepEqual(await at.told(name), ['One', 'One', 'One'], name);
  }
  t.deepEqual(await at.told('v2.json'), ['404', '404', '404']);
  t.deepEqual(await at.told('v1.json.json'), ['404', '404', '404']);
  t.is((await at.get('/repository/commits/v1/diff.json')).status, 200);
});

test('of two names that differ by the suffix each is its own', async (t) => {
  const at = await scene({
    'heads/v1': 'One',
    'heads/v1.json': 'Two',
    'tags/t': 'Two',
    'tags/t.json': 'One',
  });
  t.deepEqual(await at.told('v1'), ['One', 'One', 'One']);
  t.deepEqual(await at.told('v1.json'), ['Two', 'Two', 'Two']);
  t.deepEqual(await at.told('t'), ['Two', 'Two', 'Two']);
  t.deepEqual(await at.told('t.json'), ['One', 'One', 'One']);
});
