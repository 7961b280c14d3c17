import { spawnSync } from 'node:child_process';
import { cp, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import type { Build, Forge, Project } from '../support/forge.ts';
import { type WorkTree, withWorkTrees } from '../support/git.ts';
import { withHearth } from '../support/with-hearth.ts';
import { unzip } from '../support/zip.ts';

interface Example {
  /** Programs that its jobs use. */
  tools: string[];
  /** Names of the builds of the first push. */
  jobs: string[];
  check(t: ExecutionContext, pushed: Pushed): Promise<void>;
}

interface Pushed {
  project: Project;
  tree: WorkTree;
  builds: Build[];
}

/** By the name of the folder. */
const examples: Record<string, Example> = {
  'hello-ci': {
    tools: [],
    jobs: ['write greeting', 'check greeting', 'show greeting'],
    async check(t, { project, builds: [written, , shown] }) {
      t.true(shown && (await forge.trace(project, shown)).includes(`\nDelivered by build ${shown.id}\n`));
      const files = written && (await unzip(await forge.artifacts(project, written)));
      t.is(
        files?.['out/greeting.txt']?.toString(),
        `Hello from build ${written?.id} of ${project.path_with_namespace}\n`,
      );
    },
  },
  'c-library': {
    tools: ['cc', 'make', 'ar'],
    jobs: ['library', 'unit tests', 'strict warnings'],
    async check(t, { project, builds: [library] }) {
      t.is(library?.artifacts_file?.filename, 'words.zip');
      const files = library && (await unzip(await forge.artifacts(project, library)));
      t.deepEqual(Object.keys(files ?? {}), ['libwords.a', 'words.h']);
      t.is(files?.['libwords.a']?.subarray(0, 8).toString(), '!<arch>\n');
    },
  },
  'node-package': {
    tools: ['node', 'npm'],
    jobs: ['test'],
    async check(t, { project, tree }) {
      await tree.git('tag', 'v1.0.0');
      await tree.git('push', '--quiet', forge.cloneUrl(project), 'v1.0.0');
      const [, packed] = await forge.ended(project, 2);
      t.like(packed, { name: 'pack', status: 'success', ref: 'v1.0.0', tag: true });
      const files = packed && (await unzip(await forge.artifacts(project, packed)));
      t.deepEqual(Object.keys(files ?? {}), ['roman-1.0.0.tgz']);
      t.true(gunzipSync(files?.['roman-1.0.0.tgz'] ?? '').includes('package/roman.js'));
    },
  },
};

const folder = fileURLToPath(new URL('../../examples', import.meta.url));
const registrationToken = 'token-of-the-examples';
const trees = withWorkTrees();
const hearths = withHearth();
let forge: Forge;

test.before(async () => {
  const hearth = await hearths.start({ settings: { HEARTH_RUNNERS_REGISTRATION_TOKEN: registrationToken } });
  forge = await hearth.forge();
  // Images cannot be had everywhere; in a shell, the jobs use what this machine offers.
  await hearth.addRunner({ name: 'shell', token: registrationToken, options: ['--executor', 'shell'] });
});

test('each example is run here', async (t) => {
  t.deepEqual((await readdir(folder)).sort(), Object.keys(examples).sort());
});

for (const [name, example] of Object.entries(examples)) {
  const missing = example.tools.filter((tool) => spawnSync(tool, ['--version']).error);
  if (missing.length > 0) {
    process.stderr.write(`EXAMPLE ${name} SKIPPED: this machine has no ${missing.join(', ')}\n`);
  }
  const define = missing.length > 0 ? test.skip : test;
  define(`the pipeline of ${name} succeeds`, async (t) => {
    const pushed = await push(name, example.jobs.length);
    t.deepEqual(
      pushed.builds.map((build) => `${build.name}: ${build.status}`),
      example.jobs.map((job) => `${job}: success`),
    );
    await example.check(t, pushed);
  });
}

/** Makes a project of the example and waits for the builds of its first push. */
async function push(name: string, count: number): Promise<Pushed> {
  const project = await forge.createProject(name);
  const tree = await trees.fresh();
  await cp(`${folder}/${name}`, tree.dir, { recursive: true });
  await tree.commit();
  await tree.git('push', '--quiet', forge.cloneUrl(project), 'master');
  return { project, tree, builds: await forge.ended(project, count) };
}
