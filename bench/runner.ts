import type Docker from 'dockerode';
import { dockerEngine, testImage } from '../test/support/docker-engine.ts';
import type { Forge, Project } from '../test/support/forge.ts';
import { poll } from '../test/support/program.ts';
import { type BenchmarkSettings, cost, type Figure, Skipped } from './figure.ts';
import { elapsed, takeTurns } from './support/measure.ts';
import { startOneJob } from './support/pipeline.ts';
import { withWorld } from './support/world.ts';

/** A build of `true` in a container, from claim to success. */
export async function runner({ scale }: BenchmarkSettings): Promise<Figure[]> {
  const engine = await dockerEngine();
  if (!engine) throw new Skipped('no Docker engine answers');
  const image = await testImage();
  return withWorld(async (world) => {
    const options = ['--executor', 'docker', '--image', image, '--pull-policy', 'never'];
    const { forge, project, push } = await startOneJob(world, { script: 'true', options });
    let pushes = 0;
    const ours = async () => {
      await push();
      pushes += 1;
      return secondsOf(await lastEnded(forge, { project, pushes }));
    };
    const limit = async () => (await elapsed(() => runOnce(engine, image))) / 1000;
    await takeTurns({ rounds: 1, ours, limit });
    const pair = await takeTurns({ rounds: Math.max(3, Math.round(11 * scale)), ours, limit });
    return [cost({ name: 'runner, a build of `true`', unit: 's', ...pair }, 1.5)];
  });
}

interface Times {
  status: string;
  started_at: string;
  finished_at: string;
}

async function lastEnded(forge: Forge, of: { project: Project; pushes: number }): Promise<Times> {
  return poll('end of the build', 60_000, async () => {
    const builds = await forge.get<Times[]>(`/projects/${of.project.id}/builds`);
    const isEnded = builds.length === of.pushes && builds[0]?.finished_at;
    return isEnded ? (builds[0] ?? null) : null;
  });
}

function secondsOf({ status, started_at: start, finished_at: end }: Times): number {
  if (status !== 'success') throw new Error(`the build of \`true\` ended ${status}`);
  return (Date.parse(end) - Date.parse(start)) / 1000;
}

/** What `docker run --rm IMAGE true` asks the engine for, without the start of that program. */
async function runOnce(engine: Docker, image: string): Promise<void> {
  const container = await engine.createContainer({ Image: image, Cmd: ['true'] });
  const ended = container.wait({ condition: 'next-exit' });
  await container.start();
  await ended;
  await container.remove();
}
