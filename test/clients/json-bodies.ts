import { password } from '../support/make.ts';
import { sshKeyLine } from '../support/ssh-key-lines.ts';
import { clientTest, type Place } from './client-test.ts';
import { bytesOf, send, statusOf } from './json-client.ts';

clientTest('gl-got: a user signs in and keeps keys and addresses', async (t, place) => {
  const username = place.name('eve');
  const given = { email: `${username}@example.com`, password, username, name: 'Eve', confirm: false };
  t.is((await send(place, 'post', 'users', given)).statusCode, 201);
  const session = await send(place, 'post', 'session', { login: username, password });
  t.is(session.statusCode, 201);
  const own = { ...place, token: String(session.body.private_token) };
  t.like((await send(own, 'get', 'user')).body, { username, private_token: own.token });
  const key = await send(own, 'post', 'user/keys', { title: 'Home', key: sshKeyLine(place.name('key')) });
  t.is(key.statusCode, 201);
  t.like((await send(own, 'get', `user/keys/${key.body.id}`)).body, { title: 'Home' });
  t.is(await statusOf(place, 'get', `user/keys/${key.body.id}`), 404);
  t.is((await send(own, 'delete', `user/keys/${key.body.id}`)).statusCode, 200);
  const email = await send(own, 'post', 'user/emails', { email: `other-${username}@example.com` });
  t.is(email.statusCode, 201);
  t.is((await send(own, 'delete', `user/emails/${email.body.id}`)).statusCode, 200);
  t.is((await send(own, 'delete', `user/emails/${email.body.id}`)).statusCode, 200);
  t.is(await statusOf(own, 'post', 'users', given), 403);
});

clientTest('gl-got: blocked users are refused until they are let in again', async (t, place) => {
  const username = place.name('joe');
  const given = { email: `${username}@example.com`, password, username, name: 'Joe' };
  const { id } = (await send(place, 'post', 'users', given)).body;
  const session = await send(place, 'post', 'session', { email: given.email, password });
  const own = { ...place, token: String(session.body.private_token) };
  const blocked: unknown = (await send(place, 'put', `users/${id}/block`)).body;
  t.is(blocked, true);
  t.is(await statusOf(own, 'get', 'user'), 401);
  t.is(await statusOf(place, 'post', 'session', { login: username, password }), 401);
  await send(place, 'put', `users/${id}/unblock`);
  t.is((await send(own, 'get', 'user')).statusCode, 200);
});

clientTest('gl-got: stars, archives and groups', async (t, place) => {
  const { body: project } = await send(place, 'post', 'projects', {
    name: place.name('lab'),
    tag_list: null,
  });
  const path = `projects/${project.id}`;
  t.is((await send(place, 'post', `${path}/star`)).body.star_count, 1);
  t.is(await statusOf(place, 'post', `${path}/star`), 304);
  t.is((await send(place, 'delete', `${path}/star`)).body.star_count, 0);
  t.like(await send(place, 'post', `${path}/archive`), { statusCode: 201, body: { archived: true } });
  t.like(await send(place, 'post', `${path}/unarchive`), { body: { archived: false } });
  const name = place.name('guild');
  const group = await send(place, 'post', 'groups', { name, path: name });
  t.is(group.statusCode, 201);
  t.like((await send(place, 'get', `groups/${name}`)).body, { id: group.body.id });
  t.like((await send(place, 'put', `groups/${group.body.id}`, { description: 'All' })).body, {
    description: 'All',
  });
});

clientTest('gl-got: the settings come back as they were put', async (t, place) => {
  const given = { default_projects_limit: 42, restricted_signup_domains: ['example.com', '*.example.org'] };
  t.like((await send(place, 'put', 'application/settings', given)).body, given);
  t.like((await send(place, 'get', 'application/settings')).body, given);
  const none = { default_projects_limit: 10, restricted_signup_domains: [] };
  t.like((await send(place, 'put', 'application/settings', none)).body, none);
});

clientTest('gl-got: files, and commits of several', async (t, place) => {
  const path = await makeLab(place);
  const first = { file_path: 'a.txt', branch_name: 'master', commit_message: 'Change' };
  t.is(await statusOf(place, 'post', `${path}/files`, { ...first, content: 'again\n' }), 400);
  t.is((await send(place, 'put', `${path}/files`, { ...first, content: 'two\n' })).statusCode, 200);
  const actions = [
    { action: 'move', previous_path: 'a.txt', file_path: 'docs/a.txt' },
    { action: 'create', file_path: 'b.bin', content: 'AP8=', encoding: 'base64' },
  ];
  const many = { branch_name: 'master', commit_message: 'Both', actions };
  t.like(await send(place, 'post', `${path}/commits`, many), { statusCode: 201, body: { title: 'Both' } });
  t.deepEqual(await bytesOf(place, `${path}/blobs/master?filepath=docs%2Fa.txt`), Buffer.from('two\n'));
  t.deepEqual(await bytesOf(place, `${path}/blobs/master?filepath=b.bin`), Buffer.from([0, 255]));
  const remove = { file_path: 'b.bin', branch_name: 'master', commit_message: 'Remove' };
  t.is((await send(place, 'delete', `${path}/files`, remove)).statusCode, 200);
  t.is(await statusOf(place, 'get', `${path}/files?file_path=b.bin&ref=master`), 404);
  const zip = await bytesOf(place, `${path}/archive.zip`);
  t.is(zip.subarray(0, 2).toString(), 'PK');
});

clientTest('gl-got: branches, tags and their releases', async (t, place) => {
  const path = await makeLab(place);
  const branch = await send(place, 'post', `${path}/branches`, { branch_name: 'topic', ref: 'master' });
  t.is(branch.statusCode, place.createdAs200);
  const rights = { developers_can_push: false, developers_can_merge: true };
  t.like((await send(place, 'put', `${path}/branches/topic/protect`, rights)).body, {
    protected: true,
    ...rights,
  });
  t.like((await send(place, 'put', `${path}/branches/topic/unprotect`)).body, { protected: false });
  t.like((await send(place, 'delete', `${path}/branches/topic`)).body, { branch_name: 'topic' });
  const tag = await send(place, 'post', `${path}/tags`, { tag_name: 'v1.0', ref: 'master' });
  t.is(tag.statusCode, place.createdAs200);
  const release = `${path}/tags/v1.0/release`;
  t.is(await statusOf(place, 'put', release, { description: 'None' }), 404);
  t.like(await send(place, 'post', release, { description: 'One' }), {
    statusCode: 201,
    body: { tag_name: 'v1.0', description: 'One' },
  });
  t.is(await statusOf(place, 'post', release, { description: 'Two' }), 409);
  t.like(await send(place, 'put', release, { description: 'Two' }), { statusCode: 200 });
  t.like((await send(place, 'get', `${path}/tags/v1.0`)).body, { release: { description: 'Two' } });
  t.like((await send(place, 'delete', `${path}/tags/v1.0`)).body, { tag_name: 'v1.0' });
  t.is(await statusOf(place, 'post', release, { description: 'Gone' }), 404);
});

clientTest('gl-got: comments on commits, and who wrote them', async (t, place) => {
  const path = await makeLab(place);
  const { id: sha } = (await send(place, 'get', `${path}/commits/master`)).body;
  const onLine = { note: 'Why?', path: 'a.txt', line: 1, line_type: 'new' };
  const comment = await send(place, 'post', `${path}/commits/${sha}/comments`, onLine);
  t.like(comment, { statusCode: 201, body: { ...onLine, author: { username: 'root' } } });
  const loose = await send(place, 'post', `${path}/commits/master/comments`, { ...onLine, note: 'So' });
  t.like(loose.body, { note: 'So', path: null, line: null, line_type: null });
  const list: unknown = (await send(place, 'get', `${path}/commits/${sha}/comments`)).body;
  t.deepEqual(list, [comment.body, loose.body]);
  const contributors: unknown = (await send(place, 'get', `${path}/contributors`)).body;
  t.like(contributors, { length: 1, 0: { name: 'Administrator', commits: 1, additions: 1, deletions: 0 } });
});

/** A project with one file. @returns the path of its repository. */
async function makeLab(place: Place): Promise<string> {
  const { body } = await send(place, 'post', 'projects', { name: place.name('lab') });
  const path = `projects/${body.id}/repository`;
  const file = { file_path: 'a.txt', branch_name: 'master', content: 'one\n', commit_message: 'Begin' };
  await send(place, 'post', `${path}/files`, file);
  return path;
}
