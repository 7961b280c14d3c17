// The limit of reading rows: `bare-rows.ts DATABASE_URL PROJECT_ID BUILD_ID` serves /list, /build and /project.
import type { ServerResponse } from 'node:http';
import pg from 'pg';
import { presentBuild } from '../../server/present/build.ts';
import { presentProjectWithPermissions } from '../../server/present/project.ts';
import { type BuildRow, buildColumns, buildTables } from '../../server/queries/build-row.ts';
import { listBuilds } from '../../server/queries/builds.ts';
import { type ProjectRow, projectColumns, projectTables } from '../../server/queries/project-row.ts';
import { serveBare } from './bare-listen.ts';

const [connectionString, projectId, buildId] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString, max: 20 });
const origin = 'http://127.0.0.1';

const listed = listBuilds({ projectId: Number(projectId), statuses: null });
const list = `select ${listed.columns} from ${listed.from} order by ${listed.order} limit 100 offset 0`;
const count = `select count(*)::int as total from ${listed.countFrom}`;
const build = `select ${buildColumns} from ${buildTables} where b.project_id = $1 and b.id = $2`;
const project = `select ${projectColumns} from ${projectTables} where not p.pending_delete and p.id = $2`;

async function rows<Row>(name: string, text: string, values: unknown[]): Promise<Row[]> {
  return (await pool.query({ name, text, values })).rows as Row[];
}

const routes: Record<string, (response: ServerResponse) => Promise<unknown>> = {
  async '/list'(response) {
    const [found, totals] = await Promise.all([
      rows<BuildRow>('list', list, listed.values),
      rows<{ total: number }>('count', count, listed.values),
    ]);
    response.setHeader('X-Total', String(totals[0]?.total));
    return found.map((row) => presentBuild(row, origin));
  },
  async '/build'() {
    const found = await rows<BuildRow>('build', build, [projectId, buildId]);
    return found.map((row) => presentBuild(row, origin))[0];
  },
  async '/project'() {
    const found = await rows<ProjectRow>('project', project, [1, projectId]);
    return found.map((row) => presentProjectWithPermissions(row, { origin, sshPort: null }))[0];
  },
};

serveBare(async (request, response) => {
  const body = JSON.stringify(await routes[request.url ?? '']?.(response));
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
});
