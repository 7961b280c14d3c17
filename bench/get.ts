import { type BenchmarkSettings, type Figure, throughput } from './figure.ts';
import { compareCrowds, type Page } from './support/crowd.ts';
import { compareReads } from './support/reads.ts';

const pages: Page[] = [
  { name: 'get, a project by its path', path: () => '/api/v3/projects/user-50%2Fproject-495' },
  { name: 'get, a user', path: () => '/api/v3/users/50' },
];

/** One thing at a time. */
export async function get(settings: BenchmarkSettings): Promise<Figure[]> {
  const things = await compareReads(settings.scale, async ({ project, build, issueId, compare }) => {
    const path = `/api/v3/projects/${project.id}`;
    const oneBuild = await compare({ ours: `${path}/builds/${build.id}`, limit: '/build' });
    const oneIssue = await compare({ ours: `${path}/issues/${issueId}`, limit: '/issue' });
    const oneProject = await compare({ ours: path, limit: '/project' });
    return [
      throughput({ name: 'get, a build', unit: '/s', ...oneBuild }, 0.4),
      throughput({ name: 'get, an issue', unit: '/s', ...oneIssue }, 0.4),
      throughput({ name: 'get, a project', unit: '/s', ...oneProject }, 0.4),
    ];
  });
  return [...things, ...(await compareCrowds(settings, pages))];
}
