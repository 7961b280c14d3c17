import { type BenchmarkSettings, type Figure, throughput } from './figure.ts';
import { compareCrowds, type Page } from './support/crowd.ts';
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

/** A page of a hundred builds, and lists that stay as fast however much there is. */
export async function list(settings: BenchmarkSettings): Promise<Figure[]> {
  const builds = await compareReads(settings.scale, async ({ project, compare }) => [
    throughput(
      {
        name: 'list, 100 builds',
        unit: '/s',
        ...(await compare({ ours: `/api/v3/projects/${project.id}/builds?per_page=100`, limit: '/list' })),
      },
      0.6,
    ),
  ]);
  return [...builds, ...(await compareCrowds(settings, pages))];
}
