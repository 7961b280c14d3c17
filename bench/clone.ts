import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryDir } from '../server/git/repository-path.ts';
import type { MadeProject } from '../test/support/make.ts';
import { type BenchmarkSettings, type Figure, throughput } from './figure.ts';
import { startBare } from './support/bare.ts';
import { bareGit } from './support/bare-git.ts';
import { elapsed, takeTurns } from './support/measure.ts';
import { temporaryFolder, type World, withWorld } from './support/world.ts';

const rounds = 9;

/** A repository of many commits, out as a clone and in as a push to an empty one. */
export function clone({ scale }: BenchmarkSettings): Promise<Figure[]> {
  return withWorld(async (world) => {
    const commits = Math.max(100, Math.round(10_000 * scale));
    const { source, ours, limit } = await openHosts(world, commits);
    const work = join(world.folder, 'clone.git');
    const clones = (url: string) => async () => {
      const ms = await elapsed(() => bareGit(world.folder, ['clone', '--quiet', '--bare', url, work]));
      await rm(work, { recursive: true });
      return 60_000 / ms;
    };
    const pushes = (nextEmpty: () => Promise<string>) => async () => {
      const url = await nextEmpty();
      return 60_000 / (await elapsed(() => bareGit(source, ['push', '--quiet', url, 'master'])));
    };
    const out = await takeTurns({ rounds, ours: clones(ours.full), limit: clones(limit.full) });
    const into = await takeTurns({ rounds, ours: pushes(ours.empty), limit: pushes(limit.empty) });
    const size = `${commits} commits`;
    return [
      throughput({ name: `clone, ${size}`, unit: 'clones/min', ...out }, 0.9),
      throughput({ name: `push, ${size}`, unit: 'pushes/min', ...into }, 0.9),
    ];
  });
}

interface Host {
  /** URL of the repository with all commits. */
  full: string;
  /** Makes an empty repository. @returns its URL. */
  empty(): Promise<string>;
}

async function openHosts(
  world: World,
  commits: number,
): Promise<{ source: string; ours: Host; limit: Host }> {
  const folder = await temporaryFolder(world.cleanup);
  const source = join(folder, 'source.git');
  await fill(folder, source, commits);
  const bareUrl = await startBare(world, { program: 'bare-backend.ts', args: [folder] });
  const project = await world.make.project();
  const dir = repositoryDir(join(world.hearth.dataDir, 'repositories'), project.id);
  await bareGit(source, ['push', '--quiet', dir, 'master']);
  await bareGit(dir, ['repack', '-a', '-d', '-q', '-b']);
  let count = 0;
  return {
    source,
    ours: { full: urlOf(world, project), empty: async () => urlOf(world, await world.make.project()) },
    limit: {
      full: `${bareUrl}/source.git`,
      async empty() {
        count += 1;
        await bareGit(folder, ['init', '--quiet', '--bare', `empty-${count}.git`]);
        return `${bareUrl}/empty-${count}.git`;
      },
    },
  };
}

function urlOf(world: World, { fullPath, owner }: MadeProject): string {
  const url = new URL(`${world.url}/${fullPath}.git`);
  url.username = 'bench';
  url.password = owner.token;
  return url.href;
}

/** Each commit changes one of some hundred files. */
async function fill(folder: string, source: string, commits: number): Promise<void> {
  await bareGit(folder, ['init', '--quiet', '--bare', '--initial-branch=master', source]);
  const lines = Array.from({ length: commits }, (_, index) => {
    const content = `${index}\n`.repeat(200);
    return [
      'commit refs/heads/master',
      `committer Bench <bench@example.com> ${1_500_000_000 + index} +0000`,
      'data 7\nChange\n',
      `M 100644 inline folder-${index % 13}/file-${index % 101}.txt`,
      `data ${content.length}\n${content}\n`,
    ].join('\n');
  });
  await bareGit(source, ['fast-import', '--quiet'], lines.join(''));
  await bareGit(source, ['repack', '-a', '-d', '-q', '-b']);
}
