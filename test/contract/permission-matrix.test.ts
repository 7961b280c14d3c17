import { readFile, writeFile } from 'node:fs/promises';
import test from 'ava';
import { withApp } from '../support/app.ts';
import { callAs } from './access-calls.ts';
import { accessWorld, projectCallers } from './access-world.ts';
import { everyEndpoint } from './every-endpoint.ts';
import { approvedVariants, levelVariants } from './permission-variants.ts';

const plainFile = new URL('./access-matrix.txt', import.meta.url);
const approvedFile = new URL('./permission-matrix.txt', import.meta.url);
const note = `# Where rights differ from those on a plain personal project of the same visibility, which access-matrix.txt holds.
# After a change that is wanted: UPDATE=1 npm test -- test/contract/permission-matrix.test.ts`;

const holder = withApp({ poolSize: 4 });
const onProjects = everyEndpoint().filter(({ endpoint }) => endpoint.access.kind === 'project');

test.serial(
  'rights in groups, through shares, on archives and without features are those approved',
  async (t) => {
    const { app } = holder;
    const world = await accessWorld(app);
    const plain = await plainRows();
    const blocks: string[] = [];
    for (const { name, visibility, project } of await approvedVariants(app)) {
      const lines: string[] = [];
      for (const served of onProjects) {
        const calls = projectCallers.map((caller) => callAs({ app, world, project }, served, caller));
        const found = await Promise.all(calls);
        const usual = plain.get(`${served.name} ${visibility}`);
        if (found.join(' ') !== usual?.join(' ')) lines.push(line(served.name, found));
      }
      blocks.push([line(`== ${name}`, [...projectCallers]), ...lines].join('\n'));
    }
    const text = `${[note, ...blocks].join('\n\n')}\n`;
    if (process.env.UPDATE === '1') await writeFile(approvedFile, text);
    t.is(text, await readFile(approvedFile, 'utf8'));
  },
);

test.serial('a share gives no more than its level, and nothing where it is locked', async (t) => {
  const { app } = holder;
  const world = await accessWorld(app);
  const plain = await plainRows();
  for (const { name, visibility, project, as } of await levelVariants(app)) {
    for (const served of onProjects) {
      const members = ['guest', 'reporter', 'developer', 'master'];
      const calls = members.map((caller) => callAs({ app, world, project }, served, caller));
      const usual = plain.get(`${served.name} ${visibility}`)?.[projectCallers.indexOf(as)];
      t.deepEqual(new Set(await Promise.all(calls)), new Set([usual]), `${served.name} ${name}`);
    }
  }
});

test.serial('a blocked user is refused by every endpoint, whatever he was', async (t) => {
  const { app } = holder;
  const world = await accessWorld(app);
  const admin = await app.make.user({ isAdmin: true });
  const project = { ...world.projects.public };
  const blocked = [admin, ...Object.values(project.members)];
  project.members = Object.fromEntries(blocked.map((user) => [user.username, user]));
  await app.rows("update users set state = 'blocked' where id = any($1)", [blocked.map(({ id }) => id)]);
  for (const served of everyEndpoint().filter(({ prefix }) => !prefix.startsWith('/ci/'))) {
    const scene = { app, world, project: served.endpoint.access.kind === 'group' ? inGroup() : project };
    const calls = blocked.map(({ username }) => callAs(scene, served, username));
    t.deepEqual(new Set(await Promise.all(calls)), new Set(['401']), served.name);
  }

  function inGroup() {
    return { ...world.groups.public, members: project.members };
  }
});

/** Statuses of the approved table by endpoint and visibility. */
async function plainRows(): Promise<Map<string, string[]>> {
  const text = await readFile(plainFile, 'utf8');
  const rows = text.split('\n').map((row): [string, string[]] => {
    const [, name = '', statuses = ''] = /^(\S+ \S+ \S+)\s+(.*)$/.exec(row) ?? [];
    return [name, statuses.trim().split(/\s+/)];
  });
  return new Map(rows);
}

function line(name: string, cells: string[]): string {
  return [name.padEnd(54), ...cells.map((cell, index) => cell.padEnd(projectCallers[index]?.length ?? 0))]
    .join(' ')
    .trimEnd();
}
