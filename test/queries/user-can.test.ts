import test from 'ava';
import { type ProjectAbility, projectAbilities } from '../../server/policy/abilities.ts';
import { can, type ProjectFacts } from '../../server/policy/project.ts';
import { memberTables, viewerLevel } from '../../server/queries/project-row.ts';
import { userCan } from '../../server/queries/user-can.ts';
import { withApp } from '../support/app.ts';
import { levels } from '../support/make.ts';

const holder = withApp();
const abilities = Object.keys(projectAbilities) as ProjectAbility[];
const flags = ['archived', 'issues_enabled', 'merge_requests_enabled', 'snippets_enabled', 'builds_enabled'];

interface Row extends ProjectFacts {
  is_admin: boolean;
  external: boolean;
  /** In the order of `abilities`. */
  answers: boolean[];
}

test('the database says of everybody and every project what the policy says', async (t) => {
  const { app } = holder;
  const { make } = app;
  const people = [
    await make.user({ isAdmin: true }),
    await make.user({ external: true }),
    await make.user(),
    ...(await Promise.all(['guest', 'reporter', 'developer', 'master', 'owner'].map(() => make.user()))),
  ];
  for (const visibility of ['private', 'internal', 'public'] as const) {
    for (const odd of [null, 'public_builds', ...flags]) {
      const columns = Object.fromEntries(
        flags.map((flag) => [flag, (flag === odd) === (flag === 'archived')]),
      );
      const project = await make.project({
        visibility,
        columns: { ...columns, public_builds: odd === 'public_builds' },
      });
      for (const [index, level] of Object.values(levels).entries()) {
        await app.rows(
          'insert into project_members (project_id, user_id, access_level) values ($1, $2, $3)',
          [project.id, people[index + 3]?.id, level],
        );
      }
    }
  }
  const rows = await app.rows<Row>(
    `select p.*, u.is_admin, u.external, ${viewerLevel('u.id')} as viewer_level,
       array[${abilities.map((ability) => `(${userCan(ability)})`).join(', ')}] as answers
     from users u cross join projects p join namespaces n on n.id = p.namespace_id ${memberTables('u.id')}
     where u.id = any($1)`,
    [people.map(({ id }) => id)],
  );
  t.is(rows.length, people.length * 21);
  for (const row of rows) {
    t.deepEqual(
      row.answers,
      abilities.map((ability) => can(row, row, ability)),
    );
  }
});
