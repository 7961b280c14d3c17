import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import { cloneUrl, withWorkTrees } from '../support/git.ts';
import { type levels, type MadeProject, password } from '../support/make.ts';

const holder = withApp();
const trees = withWorkTrees();

/** What a client is told at its first contact, for fetching and for pushing. */
async function contact(
  project: { fullPath: string },
  credentials: { user?: string; password: string } | null,
): Promise<{ read: number; write: number }> {
  const [read, write] = await Promise.all([
    firstContact(project, credentials, 'git-upload-pack'),
    firstContact(project, credentials, 'git-receive-pack'),
  ]);
  return { read: read.status, write: write.status };
}

async function firstContact(
  project: { fullPath: string },
  credentials: { user?: string; password: string } | null,
  service: string,
) {
  return holder.app.call<string>('GET', `/${project.fullPath}.git/info/refs`, {
    query: { service },
    headers: credentials ? { Authorization: basic(credentials) } : {},
  });
}

function basic({ user = 'x', password }: { user?: string; password: string }): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

async function filled(
  given: Parameters<typeof holder.app.make.project>[0] = {},
): Promise<{ project: MadeProject; sha: string }> {
  const project = await holder.app.make.project(given);
  const tree = await trees.fresh();
  const sha = await tree.commit({ README: 'Hello\n' });
  await tree.git(
    'push',
    '--quiet',
    cloneUrl(holder.app, project, { password: project.owner.token }),
    'master',
  );
  return { project, sha };
}

test('without credentials the answer is a challenge, also for what does not exist', async (t) => {
  const project = await holder.app.make.project();
  for (const fullPath of [project.fullPath, 'nobody/nothing']) {
    for (const service of ['git-upload-pack', 'git-receive-pack']) {
      const answer = await firstContact({ fullPath }, null, service);
      t.is(answer.status, 401);
      t.is(answer.headers.get('www-authenticate'), 'Basic realm="Hearth"');
      t.is(answer.headers.get('content-type'), 'text/plain');
    }
  }
});

test('anybody fetches from a public project, nobody pushes to it', async (t) => {
  const open = await holder.app.make.project({ visibility: 'public' });
  const members = await holder.app.make.project({ visibility: 'internal' });
  t.deepEqual(await contact(open, null), { read: 200, write: 401 });
  t.deepEqual(await contact(members, null), { read: 401, write: 401 });
});

const allowed = { read: 200, write: 200 };
const readOnly = { read: 200, write: 403 };
const nothing = { read: 403, write: 403 };
const hidden = { read: 404, write: 404 };

const byLevel = { guest: nothing, reporter: readOnly, developer: allowed, master: allowed, owner: allowed };

for (const [level, expected] of Object.entries(byLevel)) {
  test(`on a private project a member of level ${level}`, async (t) => {
    const project = await holder.app.make.project();
    const member = await holder.app.make.member(project, level as keyof typeof levels);
    t.deepEqual(await contact(project, { password: member.token }), expected);
  });
}

test('a stranger sees no private project, and reads internal and public ones', async (t) => {
  const { make } = holder.app;
  const stranger = { password: (await make.user()).token };
  const external = { password: (await make.user({ external: true })).token };
  const [secret, internal, open] = [
    await make.project(),
    await make.project({ visibility: 'internal' }),
    await make.project({ visibility: 'public' }),
  ];
  t.deepEqual(await contact(secret, stranger), hidden);
  t.is((await firstContact(secret, stranger, 'git-upload-pack')).body, 'Not Found\n');
  t.deepEqual(await contact({ fullPath: 'no/such' }, stranger), hidden);
  t.deepEqual(await contact(internal, stranger), readOnly);
  t.deepEqual(await contact(open, stranger), readOnly);
  t.deepEqual(await contact(internal, external), hidden);
  t.deepEqual(await contact(open, external), readOnly);
  t.deepEqual(await contact(secret, { password: rootToken }), allowed);
});

test('a guest of a public project reads it like everybody', async (t) => {
  const project = await holder.app.make.project({ visibility: 'public' });
  const guest = await holder.app.make.member(project, 'guest');
  t.deepEqual(await contact(project, { password: guest.token }), readOnly);
});

test('the password goes with the name or the e-mail, the private token with any name', async (t) => {
  const { make } = holder.app;
  const owner = await make.user();
  const project = await make.project({ owner });
  const right = [
    { user: owner.username, password },
    { user: owner.username.toUpperCase(), password },
    { user: `${owner.username}@example.com`, password },
    { user: 'anything', password: owner.token },
    { user: '', password: owner.token },
    { user: 'gitlab-token', password: owner.token },
  ];
  for (const credentials of right)
    t.deepEqual(await contact(project, credentials), allowed, credentials.user);
  const wrong = [
    { user: owner.username, password: 'wrong' },
    { user: owner.username, password: '' },
    { user: 'somebody', password },
    { user: owner.token, password: '' },
  ];
  for (const credentials of wrong) {
    const answer = await firstContact(project, credentials, 'git-upload-pack');
    t.is(answer.status, 401, credentials.user);
    t.truthy(answer.headers.get('www-authenticate'));
  }
});

test('wrong credentials are refused also where none are needed', async (t) => {
  const project = await holder.app.make.project({ visibility: 'public' });
  t.deepEqual(await contact(project, { user: 'who', password: 'wrong' }), { read: 401, write: 401 });
});

test('broken headers of authorization are as good as none', async (t) => {
  const project = await holder.app.make.project();
  for (const value of ['Basic', 'Basic ???', 'Basic Zm9v', 'Bearer x', `Basic ${'A'.repeat(9000)}`]) {
    const answer = await holder.app.call('GET', `/${project.fullPath}.git/info/refs`, {
      query: { service: 'git-upload-pack' },
      headers: { Authorization: value },
    });
    t.is(answer.status, 401, value.slice(0, 20));
  }
});

test('a blocked user is nobody', async (t) => {
  const blocked = await holder.app.make.user({ state: 'blocked' });
  const project = await holder.app.make.project({ owner: blocked });
  t.deepEqual(await contact(project, { password: blocked.token }), { read: 401, write: 401 });
  t.deepEqual(await contact(project, { user: blocked.username, password }), { read: 401, write: 401 });
});

test('an archived project is read and never pushed to', async (t) => {
  const project = await holder.app.make.project({ columns: { archived: true } });
  t.deepEqual(await contact(project, { password: project.owner.token }), readOnly);
  t.deepEqual(await contact(project, { password: rootToken }), readOnly);
});

test('a project that is being deleted is gone', async (t) => {
  const project = await holder.app.make.project({ columns: { pending_delete: true } });
  t.deepEqual(await contact(project, { password: project.owner.token }), hidden);
});

test('the token of a running build reads its own project and nothing else', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const other = await make.project();
  const runner = await make.runner();
  const build = await make.build(project, { status: 'running', runner });
  const asBuild = { user: 'gitlab-ci-token', password: build.token };
  t.deepEqual(await contact(project, asBuild), readOnly);
  t.deepEqual(await contact(other, asBuild), { read: 401, write: 401 });
  t.deepEqual(await contact({ fullPath: 'no/such' }, asBuild), { read: 401, write: 401 });
  const asUser = { user: project.owner.username, password: build.token };
  t.is((await contact(project, asUser)).read, 401);
});

test('the token of a build lives as long as the build, and ten minutes for its uploads', async (t) => {
  const { make, rows } = holder.app;
  const project = await make.project();
  const runner = await make.runner();
  const finishedAgo = async (minutes: number) => {
    const build = await make.build(project, { status: 'success', runner });
    await rows(`update builds set finished_at = now() - make_interval(mins => $2) where id = $1`, [
      build.id,
      minutes,
    ]);
    return build;
  };
  const [pending, fresh, old] = [await make.build(project), await finishedAgo(5), await finishedAgo(15)];
  const reads = async ({ token }: { token: string }) =>
    (await contact(project, { user: 'gitlab-ci-token', password: token })).read;
  t.is(await reads(pending), 401);
  t.is(await reads(fresh), 200);
  t.is(await reads(old), 401);
});

test('the CI token of the project reads it, while builds are enabled', async (t) => {
  const { make, rows } = holder.app;
  const project = await make.project();
  const other = await make.project();
  const asProject = { user: 'gitlab-ci-token', password: project.runnersToken };
  t.deepEqual(await contact(project, asProject), readOnly);
  t.is((await contact(other, asProject)).read, 401);
  t.is((await contact(project, { ...asProject, password: project.owner.token })).read, 401);
  await rows('update projects set builds_enabled = false where id = $1', [project.id]);
  t.is((await contact(project, asProject)).read, 401);
});

test('the path may come without .git, in other letters, and after a rename is the new one', async (t) => {
  const { app } = holder;
  const { project, sha } = await filled();
  const url = cloneUrl(app, project, { password: project.owner.token });
  for (const variant of [url.replace(/\.git$/, ''), url.replace(project.path, project.path.toUpperCase())]) {
    t.is(await (await trees.clone(variant)).head(), sha);
  }
  await app.rows(`update projects set path = 'renamed' where id = $1`, [project.id]);
  t.is(await (await trees.clone(url.replace(project.path, 'renamed'))).head(), sha);
  t.not((await (await trees.fresh()).try('fetch', url)).code, 0);
});

test('the requests that carry packs check rights of their own', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const reporter = await app.make.member(project, 'reporter');
  const stranger = await app.make.user();
  const post = async (service: string, token: string | null) => {
    const answer = await app.call('POST', `/${project.fullPath}.git/${service}`, {
      headers: {
        'Content-Type': `application/x-${service}-request`,
        ...(token === null ? {} : { Authorization: basic({ password: token }) }),
      },
      body: '0000',
    });
    return answer.status;
  };
  t.is(await post('git-receive-pack', null), 401);
  t.is(await post('git-upload-pack', null), 401);
  t.is(await post('git-receive-pack', stranger.token), 404);
  t.is(await post('git-upload-pack', stranger.token), 404);
  t.is(await post('git-receive-pack', reporter.token), 403);
  t.is(await post('git-receive-pack', project.owner.token), 200);
});

test('a client of the old, dumb protocol is told to update', async (t) => {
  const project = await holder.app.make.project({ visibility: 'public' });
  const answer = await holder.app.call<string>('GET', `/${project.fullPath}.git/info/refs`);
  t.is(answer.status, 403);
  t.regex(answer.body, /smart protocol/);
  t.is((await holder.app.call('GET', `/${project.fullPath}.git/HEAD`)).status, 404);
  t.is((await holder.app.call('GET', `/${project.fullPath}.git/git-upload-pack`)).status, 405);
});

test('git shows on the terminal why it is refused', async (t) => {
  const { app } = holder;
  const { project } = await filled();
  const tree = await trees.fresh();
  await tree.commit();
  const guest = await app.make.member(project, 'guest');
  const reporter = await app.make.member(project, 'reporter');
  const stranger = await app.make.user();
  const fetched = await tree.try('fetch', cloneUrl(app, project, { password: guest.token }));
  t.regex(fetched.stderr, /remote: You are not allowed to read this project\./);
  const pushed = await tree.try('push', cloneUrl(app, project, { password: reporter.token }), 'master');
  t.regex(pushed.stderr, /remote: You are not allowed to push code to this project\./);
  const lost = await tree.try('fetch', cloneUrl(app, project, { password: stranger.token }));
  t.regex(lost.stderr, /remote: Not Found\n.*not found/s);
  const build = await app.make.build(project, { status: 'running', runner: await app.make.runner() });
  const asBuild = { user: 'gitlab-ci-token', password: build.token };
  const byBuild = await tree.try('push', cloneUrl(app, project, asBuild), 'master');
  t.regex(byBuild.stderr, /remote: A build cannot push\./);
  const archived = await app.make.project({ columns: { archived: true } });
  const late = await tree.try('push', cloneUrl(app, archived, { password: archived.owner.token }), 'master');
  t.regex(late.stderr, /remote: You are not allowed to push code/);
});

test('no token or password of a client gets into the log', async (t) => {
  const { app } = holder;
  const { project } = await filled();
  const tree = await trees.fresh();
  await tree.git('fetch', '--quiet', cloneUrl(app, project, { password: project.owner.token }));
  t.true(app.logLines.some((line) => line.includes(`${project.fullPath}.git/git-upload-pack`)));
  t.false(app.logLines.some((line) => line.includes(project.owner.token)));
});
