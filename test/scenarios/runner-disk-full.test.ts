import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import test from 'ava';
import type { Build, Forge, Project } from '../support/forge.ts';
import { type WorkTree, withWorkTrees } from '../support/git.ts';
import type { Hearth } from '../support/hearth.ts';
import { diskTest, SmallDisk } from '../support/small-disk.ts';
import { withHearth } from '../support/with-hearth.ts';

const trees = withWorkTrees();
const hearths = withHearth();
let hearth: Hearth;
let forge: Forge;

test.before(async () => {
  hearth = await hearths.start();
  forge = await hearth.forge();
});

/** A project whose runner has working copies, traces and caches on a small disk. */
interface Scene {
  project: Project;
  disk: SmallDisk;
  tree: WorkTree;
}

async function scene(t: ExecutionContext, name: string): Promise<Scene> {
  const disk = await SmallDisk.mount(join(await trees.folder(), name), 24);
  t.teardown(() => disk.unmount());
  const project = await forge.createProject(name);
  const places = ['--builds-dir', join(disk.path, 'builds'), '--cache-dir', join(disk.path, 'cache')];
  const options = ['--executor', 'shell', '--output-limit', '64m', ...places];
  const runner = await hearth.addRunner({ name, token: project.runners_token, options });
  // Its working copies are on the disk that is to be unmounted.
  t.teardown(() => runner.stop());
  return { project, disk, tree: await trees.fresh() };
}

/** Pushes a job, waits for its end and looks at it. */
async function ends(
  t: ExecutionContext,
  { project, tree }: Scene,
  { job, files = {}, status, cause }: Expected,
): Promise<void> {
  const before = (await forge.builds(project)).length;
  await tree.commit({ ...files, '.gitlab-ci.yml': JSON.stringify({ job }) });
  await tree.git('push', '--quiet', forge.cloneUrl(project), 'master');
  const build = (await forge.ended(project, before + 1)).at(-1) as Build;
  const trace = await forge.trace(project, build);
  t.is(build.status, status, trace.slice(-2000));
  t.regex(trace, cause);
}

interface Expected {
  job: object;
  files?: Record<string, Buffer>;
  status: 'success' | 'failed';
  cause: RegExp;
}

const fine: Expected = { job: { script: ['echo fine'] }, status: 'success', cause: /\nfine\n/ };

diskTest(
  'a job that fills the disk of its runner fails for it, and the next one has room again',
  async (t) => {
    const at = await scene(t, 'greedy');
    const script = ['dd if=/dev/zero of=big bs=1M count=200', 'echo never'];
    await ends(t, at, { job: { script }, status: 'failed', cause: /No space left on device/ });
    await ends(t, at, fine);
  },
);

diskTest('without room for sources a build fails with that cause, and runs once there is room', async (t) => {
  const at = await scene(t, 'starved');
  await at.disk.fill();
  await ends(t, at, {
    job: { script: ['echo never'] },
    files: { large: Buffer.alloc(2 ** 20, 'x') },
    status: 'failed',
    cause: /system failure\).*no space left on device/i,
  });
  await at.disk.makeRoom();
  await ends(t, at, fine);
});

diskTest('without room for its trace a build keeps what it had, and fails with that cause', async (t) => {
  const at = await scene(t, 'talking');
  await ends(t, at, {
    job: {
      script: ['echo started', `head -c 100000000 /dev/zero > ${at.disk.path}/filler || true`, 'seq 2000000'],
    },
    status: 'failed',
    cause: /\nstarted\n.*the runner cannot store the trace: ENOSPC: no space left on device/s,
  });
  await at.disk.makeRoom();
  await ends(t, at, fine);
});

diskTest('a cache that finds no room is a warning, and the old one stays as it was', async (t) => {
  const at = await scene(t, 'cached');
  const cache = { paths: ['kept'], key: 'one' };
  await ends(t, at, {
    job: { cache, script: ['mkdir kept', 'echo precious > kept/file'] },
    status: 'success',
    cause: /Saved cache one/,
  });
  await ends(t, at, {
    job: {
      cache,
      script: [
        'cat kept/file',
        'head -c 3000000 /dev/urandom > kept/more',
        // Leaves room for a trace.
        `head -c 100000000 /dev/zero > ${at.disk.path}/filler || truncate -s -1M ${at.disk.path}/filler`,
      ],
    },
    status: 'success',
    cause: /precious.*The cache cannot be saved[^\n]*no space/s,
  });
  await at.disk.makeRoom();
  await ends(t, at, {
    job: { cache, script: ['cat kept/file', 'test ! -e kept/more'] },
    status: 'success',
    cause: /Restored cache one.*\nprecious\n/s,
  });
});
