import { type BenchmarkSettings, type Figure, throughput } from './figure.ts';
import { compareReads } from './support/reads.ts';

/** One thing at a time. */
export function get({ scale }: BenchmarkSettings): Promise<Figure[]> {
  return compareReads(scale, async ({ project, build, compare }) => {
    const path = `/api/v3/projects/${project.id}`;
    const oneBuild = await compare({ ours: `${path}/builds/${build.id}`, limit: '/build' });
    const oneProject = await compare({ ours: path, limit: '/project' });
    return [
      throughput({ name: 'get, a build', unit: '/s', ...oneBuild }, 0.4),
      throughput({ name: 'get, a project', unit: '/s', ...oneProject }, 0.4),
    ];
  });
}
