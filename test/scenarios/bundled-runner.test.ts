import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { withWorkTrees } from '../support/git.ts';
import type { Hearth } from '../support/hearth.ts';
import { processesAbout } from '../support/program.ts';
import { withHearth } from '../support/with-hearth.ts';

const trees = withWorkTrees();
const hearths = withHearth();

test('the runner that a killed server leaves is taken over, at the new address', async (t) => {
  const settings = { HEARTH_BUNDLED_RUNNER: '1' };
  const first = await hearths.start({ settings });
  const [left] = await runnersOf(first);
  await first.kill();
  t.deepEqual(await runnersOf(first), [left]);

  const second = await hearths.start({ folder: first.folder, settings });
  t.not(second.url, first.url);
  t.deepEqual(await runnersOf(second), [left]);
  const forge = await second.forge();
  const project = await forge.createProject('after-the-crash');
  const tree = await trees.fresh();
  await tree.commit({ '.gitlab-ci.yml': 'job: { script: ["true"] }' });
  await tree.git('push', '--quiet', forge.cloneUrl(project), 'master');
  const [build] = await forge.ended(project, 1);
  t.like(build, { status: 'success', runner: { description: 'bundled' } });
  t.is((await forge.get<unknown[]>('/runners/all')).length, 1);
  const { runners } = JSON.parse(await readFile(join(second.dataDir, 'runner', 'config.json'), 'utf8'));
  t.like(runners, { length: 1, 0: { url: second.url } });
});

async function runnersOf({ folder }: Hearth): Promise<string[]> {
  return (await processesAbout(folder)).filter((command) => command.includes('runner/start.js run'));
}
