import { type BenchmarkSettings, type Figure, throughput } from './figure.ts';
import { compareReads } from './support/reads.ts';

/** A page of a hundred builds. */
export function list({ scale }: BenchmarkSettings): Promise<Figure[]> {
  return compareReads(scale, async ({ project, compare }) => [
    throughput(
      {
        name: 'list, 100 builds',
        unit: '/s',
        ...(await compare({ ours: `/api/v3/projects/${project.id}/builds?per_page=100`, limit: '/list' })),
      },
      0.6,
    ),
  ]);
}
