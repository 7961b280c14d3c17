import { password } from '../support/make.ts';
import { sshKeyLine } from '../support/ssh-key-lines.ts';
import { clientTest, loadClient, type Place } from './client-test.ts';

interface Handed {
  statusCode: number;
  body: Record<string, unknown> & { id: number };
}
type Send = (path: string, options: { endpoint: string; token?: string; body?: unknown }) => Promise<Handed>;
type Client = Record<'get' | 'post' | 'put' | 'delete', Send>;

const library = loadClient<Client>('gl-got');

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

function send(place: Place, method: keyof Client, path: string, body?: unknown): Promise<Handed> {
  if (!library) throw new Error('not installed');
  const options = { endpoint: `${place.api}/`, token: place.token };
  return library[method](path, body === undefined ? options : { ...options, body });
}

/** Of an answer that the client rejects. */
async function statusOf(
  place: Place,
  method: keyof Client,
  path: string,
  body?: unknown,
): Promise<number | undefined> {
  return send(place, method, path, body).then(
    ({ statusCode }) => statusCode,
    (error: { statusCode?: number }) => error.statusCode,
  );
}
