import { join } from 'node:path';
import { repositoryDir } from '../server/git/repository-path.ts';
import { type ImportedCommit, importInput } from '../test/support/import-input.ts';
import { type BenchmarkSettings, cost, type Figure } from './figure.ts';
import { bareGit } from './support/bare-git.ts';
import { Client } from './support/client.ts';
import { callsPerSecond, takeTurns } from './support/measure.ts';
import { rootToken, type World, withWorld } from './support/world.ts';

const most = 3;
const perPage = 20;
/** Commits on both sides of a comparison that are compared. */
const apart = 100;

interface Reading {
  name: string;
  /** Below the repository; called anew for each request. */
  ours: () => string;
  /** What git is asked for the same. */
  limit: () => string[][];
}

/** Reading a long history, beside the commands of git that print the same. */
export async function history({ scale }: BenchmarkSettings): Promise<Figure[]> {
  return withWorld(async (world) => {
    const count = Math.max(1000, Math.round(10_000 * scale));
    const { id, dir, shas } = await seed(world, count);
    const client = new Client(world.url, 1);
    world.cleanup.add(() => client.close());
    const figures: Figure[] = [];
    for (const { name, ours, limit } of readings(shas)) {
      const call = () =>
        client.call({
          path: `/api/v3/projects/${id}/repository/${ours()}`,
          headers: { 'PRIVATE-TOKEN': rootToken },
        });
      const ask = async () => {
        for (const args of limit()) await bareGit(dir, args);
      };
      const sides = { ours: () => milliseconds(call, scale), limit: () => milliseconds(ask, scale) };
      // Both get warm first.
      await takeTurns({ rounds: 1, ...sides });
      const found = await takeTurns({ rounds: 3, ...sides });
      figures.push(cost({ name: `history, ${name}`, unit: 'ms', ...found }, most));
    }
    return figures;
  });
}

async function milliseconds(work: () => Promise<unknown>, scale: number): Promise<number> {
  return 1000 / (await callsPerSecond({ lanes: 1, seconds: Math.max(0.5, 2 * scale) }, work));
}

function readings(shas: string[]): Reading[] {
  const middle = Math.ceil(shas.length / perPage / 2);
  const skip = (middle - 1) * perPage;
  const [from = '', to = ''] = [shas.at(-1 - apart), shas.at(-1)];
  let asked = 0;
  // Each second is another selection, so that nothing of it is known yet.
  const next = () => {
    asked += 1;
    return new Date((1_400_000_000 - asked) * 1000).toISOString();
  };
  const log = ['log', `--max-count=${perPage}`];
  return [
    { name: 'newest commits', ours: () => 'commits', limit: () => [[...log, 'master']] },
    {
      name: 'commits in the middle',
      ours: () => `commits?page=${middle}`,
      limit: () => [[...log, `--skip=${skip}`, 'master']],
    },
    {
      name: 'commits and their number',
      ours: () => `commits?since=${next()}`,
      limit: () => [
        [...log, 'master'],
        ['rev-list', '--count', `--since-as-filter=${next()}`, 'master'],
      ],
    },
    {
      name: 'commits of a file',
      ours: () => 'commits?path=d3/f3.txt',
      limit: () => [[...log, 'master', '--', 'd3/f3.txt']],
    },
    {
      name: 'what a commit changed',
      ours: () => `commits/${to}/diff`,
      limit: () => [['diff-tree', '-r', '-p', '-M', `${to}^`, to]],
    },
    {
      name: `compare, ${apart} commits`,
      ours: () => `compare?from=${from}&to=master`,
      limit: () => [
        ['log', `${from}..${to}`],
        ['diff', '-M', `${from}...${to}`],
      ],
    },
  ];
}

/** A project whose commits each change one of a thousand files. */
async function seed(world: World, count: number) {
  const { make, hearth } = world;
  const { id } = await make.project({ columns: { default_branch: 'master' } });
  const dir = repositoryDir(join(hearth.dataDir, 'repositories'), id);
  const commits = Array.from({ length: count }, (_, index): ImportedCommit => {
    const path = `d${index % 50}/f${index % 997}.txt`;
    return {
      message: `Change ${index}\n\nOf ${path}\n`,
      files: { [path]: `${index}\n${'line\n'.repeat(30)}` },
    };
  });
  const printed = await bareGit(dir, ['fast-import', '--quiet'], importInput('master', commits));
  return { id, dir, shas: printed.trim().split('\n') };
}
