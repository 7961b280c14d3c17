import { readFile, writeFile } from 'node:fs/promises';
import test, { type ExecutionContext } from 'ava';
import { dockerTest, stuckServiceImage, testImage } from '../support/docker.ts';
import type { Forge } from '../support/forge.ts';
import { withWorkTrees } from '../support/git.ts';
import type { Hearth } from '../support/hearth.ts';
import { processesAbout } from '../support/program.ts';
import { withHearth } from '../support/with-hearth.ts';

/** Bytes of a runner at its highest, its own start included. */
const mostMemory = 250 * 2 ** 20;
const outputLimit = 2 ** 20;

const trees = withWorkTrees();
const hearths = withHearth();
let hearth: Hearth;
let forge: Forge;

test.before(async () => {
  hearth = await hearths.start();
  forge = await hearth.forge();
});

interface HostileJob {
  job: object;
  status: 'success' | 'failed';
  /** In the trace. */
  cause: RegExp;
}

/** These have to come to the same end wherever they run. */
function anywhere(mark: string): Record<string, HostileJob> {
  return {
    'closes its outputs': {
      job: { script: ['echo before', 'exec >&- 2>&-', 'sleep 1', 'exit 3'] },
      status: 'failed',
      cause: /\nbefore\n.*Job failed: exit code 3/s,
    },
    'leaves a process that holds its outputs': {
      job: { script: [`sh -c 'sleep 900; : ${mark}' &`, 'echo started'] },
      status: 'success',
      cause: /\nstarted\n.*Job succeeded/s,
    },
    'prints a gigabyte on one line': {
      job: { script: ['head -c 1073741824 /dev/zero | tr "\\0" x', 'echo; echo unseen'] },
      status: 'success',
      cause: /xxxx\n[^\n]*Output exceeded 1048576 bytes; the rest is dropped\..*Job succeeded/s,
    },
    'prints half characters': {
      job: { script: [`printf '\\303'; sleep 2; printf '\\251\\n'`, `printf '<\\377\\360\\237>\\n'`] },
      status: 'success',
      cause: /\né\n.*<\ufffd{2,3}>\n.*Job succeeded/s,
    },
  };
}

test('hostile jobs in a shell end with their cause, and leave nothing', async (t) => {
  const mark = `shell-${process.pid}`;
  await runAll(t, { name: 'shell', options: ['--executor', 'shell'], jobs: anywhere(mark), mark });
});

dockerTest('hostile jobs in containers end with their cause, and leave nothing', async (t, engine) => {
  const mark = `docker-${process.pid}`;
  const jobs: Record<string, HostileJob> = {
    ...anywhere(mark),
    'has a service that never opens its port': {
      job: { services: [await stuckServiceImage()], script: ['echo went on'] },
      status: 'success',
      cause: /did not open its port in time; the job goes on.*service is stuck.*\nwent on\n/s,
    },
    'forks without end': {
      job: { script: ['while :; do sleep 900 & done'] },
      status: 'failed',
      cause: /can't fork: Resource temporarily unavailable.*Job failed: exit code 2/s,
    },
    'fills its memory': {
      // An engine may miss why a process was killed when the container is gone in the same moment.
      job: { script: ['tail /dev/zero || { code=$?; sleep 1; exit $code; }'] },
      status: 'failed',
      cause: /Job failed: exit code 137 \(out of memory\)/,
    },
    'ends its own shell': {
      job: { script: ['kill -KILL -1; kill -KILL $$; echo never'] },
      status: 'failed',
      cause: /Job failed: exit code \d+/,
    },
  };
  const limits = ['--memory', '64m', '--pids-limit', '64'];
  const options = ['--executor', 'docker', '--image', await testImage(), '--pull-policy', 'never', ...limits];
  await runAll(t, { name: 'docker', options, jobs, mark });
  const filters = { label: [`hearth.runner=${(await hearth.runnerToken('docker')).slice(0, 8)}`] };
  t.deepEqual(await engine.listContainers({ all: true, filters }), []);
  t.deepEqual(await engine.listNetworks({ filters }), []);
  t.deepEqual((await engine.listVolumes({ filters })).Volumes ?? [], []);
});

interface Attack {
  /** Of the project and of its runner. */
  name: string;
  options: string[];
  jobs: Record<string, HostileJob>;
  /** In the command lines of what the jobs start. */
  mark: string;
}

/** Runs all jobs in one stage, two at a time, then stops the runner. */
async function runAll(t: ExecutionContext, { name, options, jobs, mark }: Attack): Promise<void> {
  const project = await forge.createProject(name);
  const limit = ['--output-limit', String(outputLimit)];
  await hearth.register({ name, token: project.runners_token, options: [...options, ...limit] });
  await waitLessForServices(hearth.configOf(name));
  const runner = hearth.startRunner({ name, concurrent: 2 });
  const tree = await trees.fresh();
  const pipeline = Object.fromEntries(Object.entries(jobs).map(([title, { job }]) => [title, job]));
  await tree.commit({ '.gitlab-ci.yml': JSON.stringify(pipeline) });
  await tree.git('push', '--quiet', forge.cloneUrl(project), 'master');
  for (const build of await forge.ended(project, Object.keys(jobs).length)) {
    const expected = jobs[build.name];
    t.is(build.status, expected?.status ?? 'success', build.name);
    t.regex(await forge.trace(project, build), expected?.cause ?? /never/, build.name);
  }
  const peak = await peakMemory(runner.child.pid ?? 0);
  t.true(peak > 0 && peak <= mostMemory, `the runner took ${peak / 2 ** 20} MiB`);
  t.deepEqual(await processesAbout(mark), []);
  t.is(await runner.stop(), 0);
}

/** Seconds: one instead of thirty. */
async function waitLessForServices(path: string): Promise<void> {
  const config = JSON.parse(await readFile(path, 'utf8'));
  for (const runner of config.runners) {
    runner.docker = { ...runner.docker, wait_for_services_timeout: 1 };
  }
  await writeFile(path, JSON.stringify(config));
}

/** Bytes. */
async function peakMemory(pid: number): Promise<number> {
  const [, kibibytes] = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}
