import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isFinished } from '../../shared/build-status.ts';
import { createProject } from '../actions/create-project.ts';
import { openTrace } from '../actions/open-trace.ts';
import { publishFolder } from '../git/publish-folder.ts';
import { privateTokenOf } from '../queries/private-token.ts';
import { userById } from '../queries/user-row.ts';
import type { Services, Work } from '../services.ts';
import { inTransaction, sql } from '../sql.ts';

const folder = fileURLToPath(new URL('../../examples/hello-ci', import.meta.url));
const rootId = 1;
/** How long the terminal follows the demo before it goes on without. */
const patienceMs = 180_000;

interface DemoBuild {
  id: number;
  name: string;
  stage: string;
  status: Parameters<typeof isFinished>[0];
}

/**
 * Imports the example project as root would: creates it through the same action as the interface and pushes to
 * it over HTTP.
 *
 * @returns id of the project.
 */
export async function importDemo(services: Services, url: string): Promise<number> {
  const projectId = await inTransaction({ ...services, origin: services.baseUrl }, async (work) => {
    const root = await userById(work.em, rootId);
    if (!root) throw new Error('there is no root');
    return createProject(work, root, {
      name: 'hello-ci',
      description: 'An example to look at and to throw away',
    });
  });
  const token = await privateTokenOf(services.orm.em.fork(), services.secrets, rootId);
  await publishFolder({
    folder,
    branch: 'master',
    message: 'A first pipeline',
    url: `${url}/root/hello-ci.git`,
    user: 'root',
    password: token,
  });
  return projectId;
}

/**
 * Shows the builds of the demo on the terminal while they run.
 *
 * @returns true when all of them succeeded.
 */
export async function followDemo(
  services: Services,
  { projectId, signal }: { projectId: number; signal: AbortSignal },
): Promise<boolean> {
  const work: Work = { ...services, em: services.orm.em.fork() as Work['em'], origin: services.baseUrl };
  const shown = new Map<number, number>();
  const deadline = Date.now() + patienceMs;
  while (!signal.aborted && Date.now() < deadline) {
    const builds = await sql<DemoBuild>(
      work.em,
      'select id, name, stage, status from builds where project_id = $1 order by id',
      [projectId],
    );
    for (const build of builds) await showMore(work, build, shown);
    const pipelines = await sql<{ status: string }>(
      work.em,
      'select status from pipelines where project_id = $1',
      [projectId],
    );
    if (pipelines[0] && builds.every((build) => isFinished(build.status))) {
      if (pipelines.every(({ status }) => status !== 'pending' && status !== 'running')) {
        return pipelines.every(({ status }) => status === 'success');
      }
    }
    await wait(200, undefined, { signal }).catch(stopped);
  }
  return false;
}

async function showMore(work: Work, build: DemoBuild, shown: Map<number, number>): Promise<void> {
  if (build.status === 'pending') return;
  const start = shown.get(build.id);
  if (start === undefined)
    process.stdout.write(`\n── ${build.stage} · ${build.name} (build ${build.id}) ──\n`);
  const { stream } = await openTrace(work, build, start ?? 0);
  const bytes = Buffer.concat(await stream.toArray());
  const end = isFinished(build.status) ? bytes.length : bytes.lastIndexOf('\n') + 1;
  process.stdout.write(bytes.subarray(0, end).toString().replace(sectionMark, ''));
  shown.set(build.id, (start ?? 0) + end);
}

/** What lets a page fold parts of a trace; of no use on a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the mark is made of control characters
const sectionMark = /section_(?:start|end):\d+:\w+(?:\[[^\]]*\])?\r\x1b\[0K/g;

/** The signal ends the waiting; the loop sees it. */
function stopped(): void {}
