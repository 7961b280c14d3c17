import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Forge, type Project } from '../../test/support/forge.ts';
import { runProgram } from '../../test/support/program.ts';
import { registrationToken, rootToken, type World } from './world.ts';

/** A project with one job, a working copy of it, and a runner that waits for its builds. */
export interface OneJob {
  forge: Forge;
  project: Project;
  /** Makes a commit and pushes it; returns when git has ended. */
  push(): Promise<void>;
}

/** @param options more options of the runner's registration. */
export async function startOneJob(
  world: World,
  { script, options }: { script: string; options: string[] },
): Promise<OneJob> {
  const forge = new Forge(world.url, rootToken);
  const project = await forge.createProject('one-job');
  const dir = join(world.folder, 'work-tree');
  await mkdir(dir);
  const git = (...args: string[]) => runGit(dir, args);
  await git('init', '--quiet', '--initial-branch=master');
  await writeFile(join(dir, '.gitlab-ci.yml'), `job: { script: [${JSON.stringify(script)}] }\n`);
  await git('add', '--all');
  await world.hearth.addRunner({ name: 'bench', token: registrationToken, options });
  return {
    forge,
    project,
    async push() {
      await git('commit', '--quiet', '--allow-empty', '--message', 'Change');
      await git('push', '--quiet', forge.cloneUrl(project), 'master');
    },
  };
}

/** With nothing of the machine's own settings. */
async function runGit(cwd: string, args: string[]): Promise<void> {
  const who = ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.com'];
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' };
  await runProgram({ cwd, env, command: 'git', args: [...who, ...args] });
}
