import test from 'ava';
import { apiEndpoints } from '../../server/api/index.ts';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { withApp } from '../support/app.ts';
import { damages } from '../support/damages.ts';
import { cloneUrl, withWorkTrees } from '../support/git.ts';
import type { MadeProject } from '../support/make.ts';

const holder = withApp();
const trees = withWorkTrees();

const unreadable = '503 Service Unavailable - the repository of this project cannot be read';

const reads = apiEndpoints.filter(({ method, path }) => method === 'GET' && path.includes('/repository/'));

/** What each reads of the repository; none minds what others want. */
function requestOf(path: string, project: MadeProject, sha: string) {
  const values: Record<string, string | number> = {
    id: project.id,
    branch: 'master',
    tag_name: 'v1',
    format: 'tar',
  };
  const filled = path.replace(/[:*](\w+)/g, (_, name: string) => String(values[name] ?? sha));
  const query = {
    ref: 'master',
    ref_name: 'master',
    sha: 'master',
    from: 'master~1',
    to: 'master',
    file_path: 'README',
    filepath: 'README',
  };
  return { path: `/api/v3${filled}`, query };
}

async function filled() {
  const { app } = holder;
  const project = await app.make.project();
  const tree = await trees.fresh();
  await tree.commit({ README: 'First' });
  const sha = await tree.commit({ README: 'Second', 'src/a': 'a' });
  const dir = repositoryDir(app.services.repositoriesDir, project.id);
  await tree.git('tag', '-m', 'One', 'v1');
  await tree.git('push', '--quiet', dir, 'master', 'v1');
  await app.rows(`update projects set default_branch = 'master' where id = $1`, [project.id]);
  return { project, tree, dir, sha };
}

async function answers({ project, sha }: Awaited<ReturnType<typeof filled>>) {
  return Promise.all(
    reads.map(async (endpoint) => {
      const { path, query } = requestOf(endpoint.path, project, sha);
      const answer = await holder.app.call<unknown>('GET', path, { as: project.owner.token, query });
      return { name: endpoint.path, ...answer };
    }),
  );
}

/** The faults that were logged, which are forgotten: the rest of the tests has none. */
function takeFaults(): string[] {
  const { logLines } = holder.app;
  const faults = logLines.filter((line) => line.includes('"level":50'));
  logLines.splice(0, logLines.length, ...logLines.filter((line) => !faults.includes(line)));
  return faults;
}

for (const [name, { isTotal, cause }] of Object.entries(damages)) {
  test.serial(`${name} is a clear error of that project alone`, async (t) => {
    const { app } = holder;
    const [broken, whole] = [await filled(), await filled()];
    await cause(broken);
    for (const { name: endpoint, status, body } of await answers(broken)) {
      t.not(status, 500, endpoint);
      if (status >= 400) t.is(typeof (body as { message: unknown }).message, 'string', endpoint);
      t.false(JSON.stringify(body).includes(app.services.repositoriesDir), endpoint);
    }
    const status = await app.call('POST', `/api/v3/projects/${broken.project.id}/statuses/${broken.sha}`, {
      as: broken.project.owner.token,
      form: { state: 'success' },
    });
    t.true(isTotal ? status.status === 503 : [201, 404, 503].includes(status.status), `${status.status}`);
    if (isTotal) t.deepEqual(status.body, { message: unreadable });
    const faults = takeFaults();
    if (isTotal) t.true(faults.some((line) => line.includes('"stderr"') && line.includes(broken.dir)));
    t.true((await answers(whole)).every((answer) => answer.status === 200 || answer.status === 404));
    t.is((await app.call('GET', '/readyz')).status, 200);
    const project = await app.call('GET', `/api/v3/projects/${broken.project.id}`, {
      as: broken.project.owner.token,
    });
    t.is(project.status, 200);
    t.deepEqual(takeFaults(), []);
  });

  test.serial(`${name} is told to who clones or pushes`, async (t) => {
    const { app } = holder;
    const broken = await filled();
    await cause(broken);
    const url = cloneUrl(app, broken.project, { password: broken.project.owner.token });
    await broken.tree.commit({ README: 'Third' });
    for (const args of [
      ['fetch', '--quiet', url, 'master'],
      ['push', '--quiet', url, 'master:refs/heads/new'],
    ]) {
      const ran = await broken.tree.try(...args);
      if (isTotal) {
        t.not(ran.code, 0);
        t.true(ran.stderr.includes(`remote: ${unreadable}`), ran.stderr);
      }
      // What git itself says of a push that it began names files; those that read it may write here.
      if (isTotal || args[0] === 'fetch')
        t.false(ran.stderr.includes(app.services.repositoriesDir), ran.stderr);
    }
    takeFaults();
  });
}
