import test from 'ava';
import { rootToken } from '../support/app.ts';
import { withReceiver } from '../support/hook-receiver.ts';
import { type Pushed, withPushes } from '../support/pushes.ts';

const { holder, empty, filled, pipelines, builds, events, outstanding } = withPushes();
const receiver = withReceiver();

test.serial.before(async () => {
  await holder.app.rows('update settings set local_requests_allowed = true');
});

/** Commits changes to master as the owner. @returns the id of the commit. */
async function commit(
  { project }: Pick<Pushed, 'project'>,
  ...actions: Record<string, string>[]
): Promise<string> {
  const json = { branch_name: 'master', commit_message: 'Change', actions };
  const path = `/api/v3/projects/${project.id}/repository/commits`;
  const made = await holder.app.call<{ id: string }>('POST', path, { as: project.owner.token, json });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body.id;
}

test.serial('an edit is an event and starts the pipeline of its configuration, as a push does', async (t) => {
  const at = await filled();
  const content = 'only: {script: "true"}';
  const id = await commit(at, { action: 'update', file_path: '.gitlab-ci.yml', content });
  const [, made] = await pipelines(at.project);
  t.like(made, { ref: 'master', tag: false, sha: id, before_sha: at.sha, user_id: at.project.owner.id });
  t.deepEqual((await builds(at.project)).at(-1), { name: 'only', status: 'pending' });
  const [, event] = await events(at.project);
  t.like(event, { action: 'pushed to', ref: 'refs/heads/master', author_id: at.project.owner.id });
  t.like(event?.data, { before: at.sha, after: id, total_commits_count: 1 });
  t.is(await outstanding(at.project), 0);
});

test.serial('an edit that asks for no builds starts none', async (t) => {
  const at = await filled();
  const json = { file_path: 'x', branch_name: 'master', content: 'x', commit_message: 'Add [ci skip]' };
  const path = `/api/v3/projects/${at.project.id}/repository/files`;
  t.is((await holder.app.call('POST', path, { as: at.project.owner.token, json })).status, 201);
  t.is((await pipelines(at.project)).at(-1)?.status, 'skipped');
});

test.serial('the first edit of a project starts a pipeline too', async (t) => {
  const at = await empty();
  await commit(at, { action: 'create', file_path: '.gitlab-ci.yml', content: 'only: {script: "true"}' });
  t.is((await pipelines(at.project)).length, 1);
  t.like((await events(at.project))[0], { action: 'pushed new', ref: 'refs/heads/master' });
});

interface PushBody {
  before: string;
  after: string;
  ref: string;
  total_commits_count: number;
  commits: Record<string, unknown>[];
}

test.serial('hooks hear of an edit, with the paths that it changed', async (t) => {
  const at = await filled();
  const json = { url: receiver.url('/edit') };
  const hooks = `/api/v3/projects/${at.project.id}/hooks`;
  t.is((await holder.app.call('POST', hooks, { as: rootToken, json })).status, 201);
  await commit(at, { action: 'create', file_path: 'old', content: 'x' });
  const id = await commit(
    at,
    { action: 'create', file_path: 'new/ä', content: 'x' },
    { action: 'update', file_path: '.gitlab-ci.yml', content: 'a: {script: b}' },
    { action: 'delete', file_path: 'old' },
  );
  await holder.app.runTasks();
  const body = receiver.at<PushBody>('/edit').at(-1)?.body;
  t.like(body, { object_kind: 'push', after: id, ref: 'refs/heads/master', total_commits_count: 1 });
  t.like(body?.commits[0], {
    id,
    message: 'Change',
    added: ['new/ä'],
    modified: ['.gitlab-ci.yml'],
    removed: ['old'],
    author: {
      name: `Name of ${at.project.owner.username}`,
      email: `${at.project.owner.username}@example.com`,
    },
  });
});
