import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { Build, Forge, Project } from '../test/support/forge.ts';
import { poll, runProgram } from '../test/support/program.ts';
import { type BenchmarkSettings, type Figure, surplus } from './figure.ts';
import { elapsed, median } from './support/measure.ts';
import { startOneJob } from './support/pipeline.ts';
import { withWorld } from './support/world.ts';

const script = 'echo hello';
const limitMs = 60_000;

/** From a push to the first output of its build that a reader gets, while a runner waits. */
export function latency({ scale }: BenchmarkSettings): Promise<Figure[]> {
  return withWorld(async (world) => {
    const shell = await startOneJob(world, { script, options: ['--executor', 'shell'] });
    const rounds = Math.max(3, Math.round(15 * scale));
    const times = { afterPush: [] as number[], afterBuild: [] as number[], command: [] as number[] };
    for (let round = 0; round <= rounds; round += 1) {
      const once = await pushAndRead(shell, round + 1);
      const command = await elapsed(runCommand);
      // The first finds everything cold.
      if (round === 0) continue;
      times.command.push(command / 1000);
      times.afterPush.push(once.afterPush / 1000);
      times.afterBuild.push(once.afterBuild / 1000);
    }
    const limit = median(times.command);
    const pair = { unit: 's', limit };
    return [
      surplus({ name: 'latency, push to first output', ...pair, ours: median(times.afterPush) }, 0.3),
      surplus({ name: 'latency, pipeline to first output', ...pair, ours: median(times.afterBuild) }, 0.3),
    ];
  });
}

interface Pushing {
  forge: Forge;
  project: Project;
  push(): Promise<void>;
}

/** Milliseconds to the first output, from the end of `git push` and from the moment the server had made the build. */
async function pushAndRead({ forge, project, push }: Pushing, pushes: number) {
  await push();
  const pushed = performance.now();
  const build = await newest(forge, { project, pushes });
  const deadline = pushed + limitMs;
  while (performance.now() < deadline && (await forge.trace(project, build)) === '') await wait(2);
  const [afterPush, afterBuild] = [performance.now() - pushed, Date.now() - Date.parse(build.created_at)];
  if (afterPush > limitMs) throw new Error(`still no output after ${limitMs} ms`);
  await forge.ended(project, pushes);
  return { afterPush, afterBuild };
}

async function newest(forge: Forge, of: { project: Project; pushes: number }) {
  return poll('the build', limitMs, async () => {
    const builds = await forge.get<(Build & { created_at: string })[]>(`/projects/${of.project.id}/builds`);
    return builds.length === of.pushes ? (builds[0] ?? null) : null;
  });
}

async function runCommand(): Promise<void> {
  await runProgram({ cwd: '/', env: {}, command: '/bin/sh', args: ['-c', script] });
}
