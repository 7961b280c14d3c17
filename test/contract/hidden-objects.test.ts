import test from 'ava';
import { rootToken, type TestApp, withApp } from '../support/app.ts';
import type { MadeUser } from '../support/make.ts';
import { callPath } from './access-calls.ts';
import { type AccessProject, type AccessWorld, accessWorld } from './access-world.ts';
import { everyEndpoint } from './every-endpoint.ts';

const holder = withApp({ poolSize: 4 });

/** In every name, path, text and address of what is hidden. */
const mark = 'hidden-away';

const queries: Record<string, string>[] = [
  { per_page: '100' },
  { per_page: '100', search: mark, query: mark },
];

const reads = everyEndpoint().filter(
  ({ prefix, endpoint }) => !prefix.startsWith('/ci/') && endpoint.method === 'GET',
);

for (const served of reads) {
  test.serial(`${served.name} tells strangers nothing of what is hidden from them`, async (t) => {
    const { app } = holder;
    const { world, callers, place } = await sceneOnce();
    for (const [name, { token }] of Object.entries(callers)) {
      const project = served.endpoint.access.kind === 'group' ? place.group : place.project;
      const path = await callPath({ app, world, project, name: served.name }, served);
      for (const query of queries) {
        const { body, headers } = await app.call('GET', path, { as: token, query });
        const shown = JSON.stringify([body, headers.get('x-total')]);
        t.false(shown.includes(mark), `${path} as ${name}: ${shown.slice(0, 2000)}`);
      }
    }
  });
}

test.serial('administrators are shown it, so that the search above finds it where it is', async (t) => {
  await sceneOnce();
  for (const path of ['/projects/all', '/groups', '/namespaces']) {
    const { body } = await holder.app.call('GET', `/api/v3${path}`, {
      as: rootToken,
      query: { search: mark },
    });
    t.true(JSON.stringify(body).includes(mark), path);
  }
});

interface Scene {
  world: AccessWorld;
  callers: Record<string, MadeUser>;
  place: { project: AccessProject; group: AccessProject };
}

let made: Promise<Scene> | null = null;

function sceneOnce(): Promise<Scene> {
  made ??= makeScene(holder.app);
  return made;
}

/** A public project and a public group, with ties of every kind to private ones. */
async function makeScene(app: TestApp): Promise<Scene> {
  const { make } = app;
  const world = await accessWorld(app);
  const { public: project } = world.projects;
  const { public: group } = world.groups;
  const shownGroup = await make.group({ visibility: 'public' });
  const hiddenGroup = await make.group({ visibility: 'private', path: `${mark}-group` });
  const hidden = await hiddenProject(app, { owner: project.owner });
  const inGroup = await hiddenProject(app, { namespaceId: group.groupId ?? 0 });
  await hiddenProject(app, { namespaceId: shownGroup });
  const inHidden = await hiddenProject(app, { namespaceId: hiddenGroup });
  await make.share(project, hiddenGroup, 'reporter');
  await app.rows('update projects set forked_from_id = $2 where id = $1', [project.id, inHidden]);
  await make.groupMember(hiddenGroup, project.owner, 'owner');
  const shared = await make.runner();
  for (const id of [hidden, inGroup, inHidden]) {
    const runner = await make.runner({ projects: [{ id }, project] });
    await make.build({ id }, { status: 'success', runner: shared });
    await make.build(project, { status: 'success', runner, sha: project.sha });
  }
  await hiddenSnippets(app, { ownerId: project.owner.id, projectIds: [project.id, hidden, null] });
  const external = await make.user({ external: true });
  const member = await make.member(project, 'reporter');
  // From a fork that nobody may know of into what everybody sees.
  const branches = { source_project_id: inHidden, source_branch: 'side' };
  await make.mergeRequest(project, { columns: branches });
  await make.mergeRequest({ ...project, id: hidden }, { columns: { title: mark } });
  const callers = { stranger: await make.user(), external, member };
  for (const author of Object.values(callers)) {
    await make.issue({ ...project, id: hidden }, { author, columns: { title: mark } });
  }
  return { world, callers, place: { project, group } };
}

/** For their author alone. */
async function hiddenSnippets(
  { rows }: TestApp,
  { ownerId, projectIds }: { ownerId: number; projectIds: (number | null)[] },
): Promise<void> {
  await rows(
    `insert into snippets (project_id, author_id, title, file_name, content)
     select id, $2, $3::text, $3::text, $3::text from unnest($1::int[]) as id`,
    [projectIds, ownerId, mark],
  );
}

let count = 0;

async function hiddenProject(
  { make, rows }: TestApp,
  given: { owner?: MadeUser; namespaceId?: number },
): Promise<number> {
  const { id } = await make.project(given);
  const path = `${mark}-${++count}`;
  await rows('update projects set name = $2::text, path = $2::text, description = $2::text where id = $1', [
    id,
    path,
  ]);
  return id;
}
