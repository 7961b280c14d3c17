import test from 'ava';
import { type Answer, rootToken, withApp } from '../support/app.ts';

const holder = withApp();

interface Group {
  id: number;
  name: string;
  path: string;
  description: string;
  visibility_level: number;
  web_url: string;
  projects: { id: number; path_with_namespace: string }[];
}

function call<T = Group>(
  method: string,
  path: string,
  as: string,
  json?: Record<string, unknown>,
): Promise<Answer<T>> {
  return holder.app.call<T>(method, `/api/v3${path}`, { as, json });
}

function message(answer: Answer): unknown {
  return (answer.body as { message: unknown }).message;
}

test('whoever may make groups makes one and owns it', async (t) => {
  const { make, url, rows } = holder.app;
  const user = await make.user();
  const given = { name: 'The Crew - 1', path: 'The.Crew_1', description: 'Us', visibility_level: 10 };
  const made = await call('POST', '/groups', user.token, given);
  t.is(made.status, 201);
  t.deepEqual(made.body as unknown, {
    id: made.body.id,
    ...given,
    avatar_url: null,
    web_url: `${url}/groups/The.Crew_1`,
  });
  const members = await rows('select user_id, access_level from group_members where group_id = $1', [
    made.body.id,
  ]);
  t.deepEqual(members, [{ user_id: user.id, access_level: 50 }]);
  const plain = await call('POST', '/groups', user.token, { name: 'plain', path: 'plain-one' });
  t.is(plain.body.visibility_level, 20);
  t.is(plain.body.description, '');
});
