import test, { type ExecutionContext } from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { type Answer, withApp } from '../support/app.ts';
import { cloneUrl, tryGit, withWorkTrees } from '../support/git.ts';
import type { MadeProject } from '../support/make.ts';
import { startServerProcess } from '../support/server-process.ts';

const holder = withApp({ poolSize: 4 });
const trees = withWorkTrees();
const moved = 'Commit was rejected because branch received new push';

interface Place {
  project: MadeProject;
  git(...args: string[]): Promise<string>;
}

/** A project whose master has one file. */
async function place(): Promise<Place> {
  const project = await holder.app.make.project();
  const tree = await trees.fresh();
  await tree.commit({ README: 'start' });
  await tree.git(
    'push',
    '--quiet',
    cloneUrl(holder.app, project, { password: project.owner.token }),
    'master',
  );
  const dir = repositoryDir(holder.app.services.repositoriesDir, project.id);
  const git = async (...args: string[]) => {
    const ran = await tryGit(dir, args);
    if (ran.code !== 0) throw new Error(ran.stderr);
    return ran.stdout;
  };
  return { project, git };
}

async function edit(
  url: string,
  { id, owner }: MadeProject,
  name: string,
): Promise<Answer<{ message?: string }>> {
  const given = { file_path: `files/${name}`, branch_name: 'master', content: name, commit_message: name };
  const answer = await fetch(`${url}/api/v3/projects/${id}/repository/files`, {
    method: 'POST',
    headers: { 'PRIVATE-TOKEN': owner.token },
    body: new URLSearchParams(given),
  });
  return {
    status: answer.status,
    headers: answer.headers,
    body: (await answer.json()) as { message?: string },
  };
}

/** Pushes until it has brought its commits in, as people do. @returns their messages. */
async function pushCommits(project: MadeProject, count: number): Promise<string[]> {
  const url = cloneUrl(holder.app, project, { password: project.owner.token });
  const tree = await trees.clone(url);
  const messages = Array.from({ length: count }, (_, index) => `push-${index}`);
  for (const message of messages) {
    await tree.commit({ [message]: message }, message);
    while ((await tree.try('push', '--quiet', 'origin', 'master')).code !== 0) {
      await tree.git('pull', '--quiet', '--rebase', 'origin', 'master');
    }
  }
  return messages;
}

/** Every edit was made or refused as documented; each that was made is in the history once, which is one line. */
async function check(
  t: ExecutionContext,
  { git }: Place,
  tried: { name: string; answer: Answer<{ message?: string }> }[],
  pushed: string[] = [],
) {
  const landed = tried.filter(({ answer }) => answer.status === 201).map(({ name }) => name);
  const refused = tried.filter(({ answer }) => answer.status !== 201);
  for (const { answer } of refused) t.deepEqual([answer.status, answer.body.message], [400, moved]);
  const history = (await git('log', '--format=%s', 'master'))
    .split('\n')
    .filter((title) => title !== 'Change');
  t.deepEqual(history.sort(), [...landed, ...pushed].sort());
  t.is(await git('rev-list', '--merges', 'master'), '');
  t.deepEqual(
    (await git('ls-tree', '--name-only', 'master', 'files/')).split('\n').sort(),
    landed.map((name) => `files/${name}`).sort(),
  );
  t.regex(await git('fsck', '--full', '--strict'), /^(?:dangling \w+ \w+\n?)*$/);
  return { landed, refused };
}

function namesOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `edit-${index}`);
}

test.serial('200 edits of one branch at once, with pushes among them, lose nothing', async (t) => {
  const at = await place();
  const pushing = pushCommits(at.project, 5);
  const tried = await Promise.all(
    namesOf(200).map(async (name) => ({ name, answer: await edit(holder.app.url, at.project, name) })),
  );
  const { landed } = await check(t, at, tried, await pushing);
  t.true(landed.length > 0);
  const events = await holder.app.rows('select 1 from events where project_id = $1', [at.project.id]);
  t.is(events.length, 1 + landed.length + 5);
  t.deepEqual(await holder.app.rows('select 1 from pushes where project_id = $1', [at.project.id]), []);
});

test.serial('edits through one server alone do not get in the way of each other', async (t) => {
  const at = await place();
  const tried = await Promise.all(
    namesOf(10).map(async (name) => ({ name, answer: await edit(holder.app.url, at.project, name) })),
  );
  t.deepEqual((await check(t, at, tried)).refused, []);
});

test.serial(
  'edits through two servers at once: each lands whole, or is told that the branch moved',
  async (t) => {
    const at = await place();
    const other = await startServerProcess(t, holder.app);
    const urls = [holder.app.url, other.url];
    const tried = await Promise.all(
      namesOf(60).map(async (name, index) => ({
        name,
        answer: await edit(urls[index % 2] ?? '', at.project, name),
      })),
    );
    const { landed } = await check(t, at, tried);
    t.true(landed.length > 0);
  },
);
