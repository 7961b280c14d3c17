import type Router from '@koa/router';
import test from 'ava';
import { createApp } from '../../server/app.ts';
import { namespacePathFaults } from '../../server/policy/namespace-path.ts';
import { withApp } from '../support/app.ts';

const holder = withApp();

/** First parts of the paths of all routes that are mounted, but for those that stand for any name. */
function firstParts(): string[] {
  const { middleware } = createApp(holder.app.services);
  const routers = middleware.flatMap((one) => (one as { router?: Router }).router ?? []);
  const paths = routers.flatMap((router) => router.stack.map(({ path }) => String(path)));
  const parts = paths.map((path) => path.split('/')[1] ?? '');
  return [...new Set(parts)].filter((part) => part !== '' && !part.startsWith(':')).sort();
}

test('no user or group can have the name of a route of the server', (t) => {
  const parts = firstParts();
  for (const known of ['api', 'ci', 'healthz', 'oauth', 'uploads', 'users']) t.true(parts.includes(known));
  const free = parts.filter((part) => namespacePathFaults(part).length === 0);
  t.deepEqual(free, [], 'add these to the reserved names in namespace-path.ts');
});

test('nor one under which git shows a token instead of a password', async (t) => {
  const { app } = holder;
  const as = (await app.make.user()).token;
  for (const name of ['oauth2', 'gitlab-ci-token', 'OAuth2']) {
    const said = [`${name} is a reserved name`];
    t.deepEqual(namespacePathFaults(name), said);
    const group = await app.call('POST', '/api/v3/groups', { as, form: { name: 'x', path: name } });
    t.is(group.status, 400);
    t.deepEqual(group.body, { message: { path: said } });
  }
});
