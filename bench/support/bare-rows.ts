// The limit of reading rows: `bare-rows.ts DATABASE_URL PROJECT_ID BUILD_ID ISSUE_ID` serves /list and /build, /issues
// and /issue, and /project.
import type { ServerResponse } from 'node:http';
import pg from 'pg';
import { presentBuild } from '../../server/present/build.ts';
import { presentIssue } from '../../server/present/issue.ts';
import { presentProjectWithPermissions } from '../../server/present/project.ts';
import { type BuildRow, buildColumns, buildTables } from '../../server/queries/build-row.ts';
import { listBuilds } from '../../server/queries/builds.ts';
import { type IssueRow, issueColumns, issueTables } from '../../server/queries/issue-row.ts';
import { listProjectIssues } from '../../server/queries/issues.ts';
import type { ListQuery } from '../../server/queries/list-query.ts';
import { type ProjectRow, projectColumns, projectTables } from '../../server/queries/project-row.ts';
import { serveBare } from './bare-listen.ts';

const [connectionString, projectId, buildId, issueId] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString, max: 20 });
const origin = 'http://127.0.0.1';

const builds = listBuilds({ projectId: Number(projectId), statuses: null });
const issues = listProjectIssues({ id: 1 }, Number(projectId), {});
const build = `select ${buildColumns} from ${buildTables} where b.project_id = $1 and b.id = $2`;
const issue = `select ${issueColumns('$1')} from ${issueTables} where t.project_id = $2 and t.id = $3 and t.deleted_at is null`;
const project = `select ${projectColumns} from ${projectTables} where not p.pending_delete and p.id = $2`;

async function rows<Row>(name: string, text: string, values: unknown[]): Promise<Row[]> {
  return (await pool.query({ name, text, values })).rows as Row[];
}

/** A hundred rows and the number of all. */
async function firstPage<Row>(name: string, listed: ListQuery, response: ServerResponse): Promise<Row[]> {
  const { columns, from, order, index, values, countFrom, countValues } = listed;
  const found = index
    ? `${from} where ${index.key} in (select ${index.key} from ${index.from} order by ${order} limit 100)`
    : from;
  const limit = index ? '' : 'limit 100';
  const [page, totals] = await Promise.all([
    rows<Row>(name, `select ${columns} from ${found} order by ${order} ${limit}`, values),
    rows<{ total: number }>(
      `${name} count`,
      `select count(*)::int as total from ${countFrom}`,
      countValues ?? values,
    ),
  ]);
  response.setHeader('X-Total', String(totals[0]?.total));
  return page;
}

const routes: Record<string, (response: ServerResponse) => Promise<unknown>> = {
  async '/list'(response) {
    const found = await firstPage<BuildRow>('builds', builds, response);
    return found.map((row) => presentBuild(row, origin));
  },
  async '/issues'(response) {
    const found = await firstPage<IssueRow>('issues', issues, response);
    return found.map((row) => presentIssue(row, origin));
  },
  async '/issue'() {
    const found = await rows<IssueRow>('issue', issue, [1, projectId, issueId]);
    return found.map((row) => presentIssue(row, origin))[0];
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
