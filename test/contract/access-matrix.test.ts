import { readFile, writeFile } from 'node:fs/promises';
import test from 'ava';
import { withApp } from '../support/app.ts';
import { callAs, callWithToken, runnerCallers } from './access-calls.ts';
import {
  type AccessWorld,
  accessWorld,
  instanceCallers,
  projectCallers,
  visibilities,
} from './access-world.ts';
import { everyEndpoint, type ServedEndpoint } from './every-endpoint.ts';

const approvedFile = new URL('./access-matrix.txt', import.meta.url);
const note = `# Who gets which status from each endpoint when no parameters are sent. ok: done; 400: he may, but something is missing.
# A test compares it with the running server. After a change that is wanted: UPDATE=1 npm test -- test/contract/access-matrix.test.ts`;

interface Row {
  served: ServedEndpoint;
  /** Of the project, or empty. */
  visibility: string;
  callers: readonly string[];
  /** One per caller. */
  statuses: string[];
}

const holder = withApp({ poolSize: 4 });
let called: Promise<Row[]> | null = null;

/** All calls are made once, for all tests. */
function allRows(): Promise<Row[]> {
  called ??= accessWorld(holder.app).then(callAll);
  return called;
}

test('rights on every endpoint are those that were approved', async (t) => {
  const text = render(await allRows());
  if (process.env.UPDATE === '1') await writeFile(approvedFile, text);
  t.is(text, await readFile(approvedFile, 'utf8'));
});

test('every endpoint is in the table', async (t) => {
  const rows = await allRows();
  t.deepEqual(
    new Set(rows.map(({ served }) => served.name)),
    new Set(everyEndpoint().map(({ name }) => name)),
  );
});

test('nobody gets anything without a token, but where the declaration says anyone', async (t) => {
  for (const { served, callers, statuses, visibility } of await allRows()) {
    if (!callers.includes('anonymous') || served.endpoint.access.kind === 'anyone') continue;
    t.is(statuses[callers.indexOf('anonymous')], '401', `${served.name} ${visibility}`);
  }
});

test('a private project is not there for those who take no part in it', async (t) => {
  for (const { served, statuses } of (await allRows()).filter((row) => row.visibility === 'private')) {
    t.deepEqual(statuses.slice(1, 3), ['404', '404'], served.name);
  }
});

test('a higher level never has less rights, and administrators have all', async (t) => {
  for (const { served, visibility, statuses } of (await allRows()).filter((row) => row.visibility !== '')) {
    const may = statuses.slice(projectCallers.indexOf('guest')).map((status) => !/^40[134]$/.test(status));
    t.deepEqual(may, [...may].sort(), `${served.name} ${visibility}`);
    t.true(may.at(-1), `${served.name} ${visibility}`);
  }
});

async function callAll(world: AccessWorld): Promise<Row[]> {
  const { app } = holder;
  const found: Row[] = [];
  const add = async (
    served: ServedEndpoint,
    visibility: string,
    callers: readonly string[],
    call: (caller: string) => Promise<string>,
  ) => {
    found.push({ served, visibility, callers, statuses: await Promise.all(callers.map(call)) });
  };
  for (const served of everyEndpoint()) {
    const { kind } = served.endpoint.access;
    if (served.prefix.startsWith('/ci/')) {
      const scene = { app, world, project: world.projects.private };
      await add(served, '', runnerCallers, (caller) =>
        callWithToken(scene, served, caller as (typeof runnerCallers)[number]),
      );
    } else if (kind === 'project' || kind === 'group') {
      const places = kind === 'group' ? world.groups : world.projects;
      for (const visibility of visibilities) {
        const scene = { app, world, project: places[visibility] };
        await add(served, visibility, projectCallers, (caller) => callAs(scene, served, caller));
      }
    } else {
      const scene = { app, world, project: world.projects.private };
      await add(served, '', instanceCallers, (caller) => callAs(scene, served, caller));
    }
  }
  return found;
}

/** One block per set of callers, one line per endpoint and visibility. */
function render(all: Row[]): string {
  const blocks = [projectCallers, instanceCallers, runnerCallers].map((callers) => {
    const lines = all
      .filter((row) => row.callers === callers)
      .map(({ served, visibility, statuses }) => line(`${served.name} ${visibility}`, statuses, callers));
    return [line('', [...callers], callers), ...lines].join('\n');
  });
  return `${[note, ...blocks].join('\n\n')}\n`;
}

function line(name: string, cells: string[], callers: readonly string[]): string {
  return [name.padEnd(62), ...cells.map((cell, index) => cell.padEnd(callers[index]?.length ?? 0))]
    .join(' ')
    .trimEnd();
}
