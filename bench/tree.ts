import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { repositoryDir } from '../server/git/repository-path.ts';
import { type BenchmarkSettings, type Figure, throughput } from './figure.ts';
import { startBare } from './support/bare.ts';
import { Client } from './support/client.ts';
import { callsPerSecond, takeTurns } from './support/measure.ts';
import { rootToken, withWorld } from './support/world.ts';

const lanes = 8;
const folders = 100;
const filesPerFolder = 200;

/** A folder and a file of a repository of 20,000 files, beside a bare `git cat-file` that answers over HTTP. */
export function tree({ scale }: BenchmarkSettings): Promise<Figure[]> {
  return withWorld(async (world) => {
    const project = await world.make.project({ columns: { default_branch: 'master' } });
    const dir = repositoryDir(join(world.hearth.dataDir, 'repositories'), project.id);
    await fill(dir, Math.max(1, Math.round(folders * Math.min(scale, 1))));
    const bare = new Client(await startBare(world, { program: 'bare-tree.ts', args: [dir] }), lanes);
    const ours = new Client(world.url, lanes);
    world.cleanup.add(() => bare.close());
    world.cleanup.add(() => ours.close());
    const seconds = Math.max(1, 4 * scale);
    const headers = { 'PRIVATE-TOKEN': rootToken };
    const turn = (client: Client, path: string) => () =>
      callsPerSecond({ lanes, seconds }, () => client.call({ path, headers }));
    const compare = async (paths: { ours: string; limit: string }) => {
      const sides = { ours: turn(ours, paths.ours), limit: turn(bare, paths.limit) };
      // Both get warm first.
      await takeTurns({ rounds: 1, ...sides });
      return takeTurns({ rounds: 3, ...sides });
    };
    const path = `/api/v3/projects/${project.id}/repository`;
    const folder = await compare({
      ours: `${path}/tree?path=folder-0&per_page=100`,
      limit: '/tree?master:folder-0',
    });
    const file = await compare({
      ours: `${path}/files?file_path=folder-0/file-0&ref=master`,
      limit: '/file?master:folder-0/file-0',
    });
    return [
      throughput({ name: 'tree, a folder', unit: '/s', ...folder }, 0.5),
      throughput({ name: 'tree, a file', unit: '/s', ...file }, 0.5),
    ];
  });
}

async function fill(dir: string, count: number): Promise<void> {
  const git = spawn('git', [`--git-dir=${dir}`, 'fast-import', '--quiet'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  git.stdin.write('commit refs/heads/master\ncommitter Bench <bench@example.com> 0 +0000\ndata 0\n');
  for (let folder = 0; folder < count; folder += 1) {
    for (let file = 0; file < filesPerFolder; file += 1) {
      const content = `The file ${file} of ${folder}\n`.repeat(20);
      git.stdin.write(`M 644 inline folder-${folder}/file-${file}\ndata ${content.length}\n${content}\n`);
    }
  }
  git.stdin.end();
  const [code] = await once(git, 'exit');
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
}
