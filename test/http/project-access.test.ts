import test from 'ava';
import { onProject } from '../../server/http/access.ts';
import { withApp } from '../support/app.ts';
import { countStatements } from '../support/count-statements.ts';

const holder = withApp();

test.serial('requests that arrive together about one project for one user ask for both once', async (t) => {
  const { make, work } = holder.app;
  const project = await make.project();
  const access = onProject('read_project');
  const load = (token: string) =>
    access.load({
      work,
      raw: { id: project.id },
      header: (name) => (name === 'private-token' ? token : ''),
    });
  const other = await make.member(project, 'guest');
  let found: Awaited<ReturnType<typeof load>>[] = [];
  const { token } = project.owner;
  const count = await countStatements(async () => {
    found = await Promise.all([token, token, other.token, token].map(load));
  });
  t.is(count, 2);
  t.deepEqual(
    found.map(({ viewer }) => viewer.id),
    [project.owner.id, project.owner.id, other.id, project.owner.id],
  );
  const [one, two] = found;
  t.deepEqual(one, two);
  t.not(one?.viewer, two?.viewer);
  t.not(one?.project, two?.project);
});

test.serial('a crowd of users at several projects gets what each of them gets alone', async (t) => {
  const { make, call } = holder.app;
  const projects = [await make.project(), await make.project()];
  const guests = await Promise.all(projects.map((project) => make.member(project, 'guest')));
  const people = [...projects.map(({ owner }) => owner), ...guests, await make.user(), { token: 'none' }];
  const ids = projects.flatMap(({ id, fullPath }) => [String(id), encodeURIComponent(fullPath)]);
  const questions = people.flatMap(({ token: as }) =>
    ids.map((id) => ({ as, path: `/api/v3/projects/${id}/hooks` })),
  );
  const ask = ({ as, path }: (typeof questions)[number]) =>
    call('GET', path, { as }).then(({ status }) => `${status} ${as} ${path}`);
  const alone: string[] = [];
  for (const question of questions) alone.push(await ask(question));
  t.deepEqual([...new Set(alone.map((line) => line.slice(0, 3)))].sort(), ['200', '401', '403', '404']);
  const many = Array.from({ length: 5 }, () => questions).flat();
  t.deepEqual(await Promise.all(many.map(ask)), Array.from({ length: 5 }, () => alone).flat());
});
