import test from 'ava';
import { type CallOptions, rootToken, withApp } from '../support/app.ts';
import { callPath } from './access-calls.ts';
import { type AccessWorld, accessWorld } from './access-world.ts';
import { everyEndpoint, type ServedEndpoint } from './every-endpoint.ts';

const holder = withApp({ poolSize: 4 });

/** What a request needs to get as far as the look for the object. */
const given: Record<string, unknown> = {
  access_level: 30,
  job: 'compile',
  state: 'success',
  title: 'A key',
  to_project_id: 1,
  url: 'http://127.0.0.1:1',
  value: 'x',
};

/** They name a thing that is elsewhere by their purpose. */
const reaching = [
  'POST /projects/:id/keys/:key_id/enable',
  'POST /projects/:id/deploy_keys/:key_id/enable',
  'POST /projects/:id/fork/:forked_from_id',
  'POST /groups/:id/projects/:project_id',
];

/** It is no fault that there is nothing to take away. */
const faultless = ['DELETE /projects/:id/members/:user_id', 'DELETE /projects/:id/snippets/:snippet_id'];

/** What its path names is a format. */
const objectless = ['GET /projects/:id/repository/archive.:format'];

const nested = everyEndpoint().filter(
  ({ name, prefix, endpoint }) =>
    !prefix.startsWith('/ci/') &&
    !reaching.includes(name) &&
    !objectless.includes(name) &&
    /^\/(?:projects|groups|users)\/:\w+\/.*[:*]/.test(endpoint.path),
);

for (const served of nested) {
  test.serial(`${served.name} knows nothing of the object of another parent`, async (t) => {
    const world = await worldOnce();
    const path = await foreignPath(served, world);
    const { body, status } = await holder.app.call(served.endpoint.method, path, options(served));
    const expected = faultless.includes(served.name) ? 200 : 404;
    t.is(status, expected, `${path} ${JSON.stringify(body)}`);
  });
}

let made: Promise<AccessWorld> | null = null;

function worldOnce(): Promise<AccessWorld> {
  made ??= accessWorld(holder.app);
  return made;
}

/** Names one parent, and below it an object of another one. */
async function foreignPath(served: ServedEndpoint, world: AccessWorld): Promise<string> {
  const { app } = holder;
  const isGroup = served.endpoint.path.startsWith('/groups');
  const places = isGroup ? world.groups : world.projects;
  const project = places.private;
  const path = await callPath({ app, world, project, name: served.name }, served);
  const [, ...parts] = path.slice(served.prefix.length).split('/');
  const parent = served.endpoint.path.startsWith('/users')
    ? (await app.make.user()).id
    : isGroup
      ? places.public.groupId
      : places.public.id;
  return [served.prefix, parts[0], parent, ...parts.slice(2)].join('/');
}

function options({ endpoint }: ServedEndpoint): CallOptions {
  const names = Object.entries(endpoint.params ?? {}).flatMap(([name, { place, required }]) =>
    place === 'any' && required ? [name] : [],
  );
  const sent = Object.fromEntries(names.map((name) => [name, String(given[name] ?? 'x')]));
  return endpoint.method === 'GET' ? { as: rootToken, query: sent } : { as: rootToken, form: sent };
}
