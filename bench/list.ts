import { type BenchmarkSettings, type Figure, throughput } from './figure.ts';
import { compareCrowds, type Page } from './support/crowd.ts';
import { compareIssues, type IssuePage } from './support/issue-crowd.ts';
import { compareReads } from './support/reads.ts';

const perPage = 20;

/** Lists of projects and users: their first pages, those far back, and those that match something. */
const pages: Page[] = [
  { name: 'list, all projects', path: () => '/api/v3/projects/all' },
  {
    name: 'list, the middle of all projects',
    path: ({ projects }) => `/api/v3/projects/all?page=${Math.ceil(projects / perPage / 2)}`,
  },
  {
    name: 'list, the end of all projects',
    path: ({ projects }) => `/api/v3/projects/all?page=${Math.ceil(projects / perPage)}`,
  },
  { name: 'list, projects by name', path: () => '/api/v3/projects/all?order_by=name&sort=asc' },
  { name: 'list, public projects', path: () => '/api/v3/projects/all?visibility=public' },
  { name: 'list, own projects', path: () => '/api/v3/projects?sudo=user-50' },
  { name: 'list, owned projects', path: () => '/api/v3/projects/owned?sudo=user-50' },
  { name: 'list, projects with a word', path: () => '/api/v3/projects/all?search=wanted' },
  { name: 'list, projects by part of a name', path: () => '/api/v3/projects/search/anted?sudo=user-50' },
  { name: 'list, users', path: () => '/api/v3/users' },
  {
    name: 'list, the end of the users',
    path: ({ users }) => `/api/v3/users?page=${Math.ceil(users / perPage)}`,
  },
  { name: 'list, users with a word', path: () => '/api/v3/users?search=wanted' },
];

/** Lists of one project among many, each of which has as many issues and merge requests. */
const issuePages: IssuePage[] = [
  { name: 'list, issues', path: ({ project }) => `${project}/issues` },
  { name: 'list, open issues', path: ({ project }) => `${project}/issues?state=opened` },
  { name: 'list, issues by change', path: ({ project }) => `${project}/issues?order_by=updated_at` },
  { name: 'list, issues with a label', path: ({ project }) => `${project}/issues?labels=bug` },
  {
    name: 'list, open issues with one of two labels',
    path: ({ project }) => `${project}/issues?state=opened&labels=bug,rare`,
  },
  { name: 'list, issues of a milestone', path: ({ project }) => `${project}/issues?milestone=v1` },
  { name: 'list, own issues', path: ({ author }) => `/api/v3/issues?sudo=${author}` },
  { name: 'list, merge requests', path: ({ project }) => `${project}/merge_requests` },
  {
    name: 'list, open merge requests',
    path: ({ project }) => `${project}/merge_requests?state=opened`,
  },
];

/** A page of a hundred builds or issues, and lists that stay as fast however much there is. */
export async function list(settings: BenchmarkSettings): Promise<Figure[]> {
  const hundreds = await compareReads(settings.scale, async ({ project, compare }) => {
    const path = `/api/v3/projects/${project.id}`;
    const builds = await compare({ ours: `${path}/builds?per_page=100`, limit: '/list' });
    const issues = await compare({ ours: `${path}/issues?per_page=100`, limit: '/issues' });
    return [
      throughput({ name: 'list, 100 builds', unit: '/s', ...builds }, 0.6),
      throughput({ name: 'list, 100 issues', unit: '/s', ...issues }, 0.6),
    ];
  });
  const issues = await compareIssues(settings, issuePages);
  return [...hundreds, ...issues, ...(await compareCrowds(settings, pages))];
}
