import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { Forge, type Project } from '../support/forge.ts';
import { type WorkTree, withWorkTrees } from '../support/git.ts';
import type { Hearth } from '../support/hearth.ts';
import { poll } from '../support/program.ts';
import { withHearth } from '../support/with-hearth.ts';
import { unzip } from '../support/zip.ts';

export interface Outage {
  /** From the kill of the server to its next start. */
  seconds: number;
  /** The job comes to its end while the server is away; else it goes on until after. */
  endsMeanwhile: boolean;
}

const numbers = (count: number, prefix = '') =>
  Array.from({ length: count }, (_, index) => `${prefix}${index + 1}\n`).join('');
const before = numbers(500, 'before ö€ ');
const after = numbers(20_000, 'after ö€ ');
const made = numbers(100_000);

/** Kills the server under a build and starts it again later, on the same data and port. Call once per file. */
export function withOutage(): (t: ExecutionContext, outage: Outage) => Promise<void> {
  const trees = withWorkTrees();
  const hearths = withHearth();
  return async (t, outage) => {
    const folder = await hearths.folder();
    const start = { folder, settings: { HEARTH_LISTEN: `127.0.0.1:${await freePort()}` } };
    const flags = new Flags(join(folder, 'flags'));
    const first = await hearths.start(start);
    const forge = await first.forge();
    const project = await forge.createProject('steady');
    await first.addRunner({
      name: 'steady',
      token: project.runners_token,
      options: ['--executor', 'shell'],
    });
    const undisturbed = await buildOf(forge, project, { flags, tree: await trees.fresh() });

    await flags.clear();
    await forge.post(`/projects/${project.id}/builds/${undisturbed.id}/retry`);
    await killUnderBuild(first, { forge, project, id: undisturbed.id + 1 });
    await flags.raise('go', ...(outage.endsMeanwhile ? ['end'] : []));
    await wait(outage.seconds * 1000);
    t.is(flags.isUp('done'), outage.endsMeanwhile);
    const second = await hearths.start(start);
    await flags.raise('end');

    const again = new Forge(second.url, forge.token);
    await again.ended(project, 2);
    const disturbed = await resultOf(again, project, undisturbed.id + 1);
    t.deepEqual(disturbed, { ...undisturbed, id: undisturbed.id + 1 });
    t.is(disturbed.status, 'success');
    t.true(disturbed.trace.includes(before) && disturbed.trace.includes(after));
    t.deepEqual(disturbed.files, { 'out.txt': Buffer.from(made) });
    t.is(first.runners.get('steady')?.stderr.match(/"msg":"build started"/g)?.length, 2);
  };
}

/** Files that a job waits for, or makes. */
class Flags {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  async raise(...names: string[]): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    for (const name of names) await writeFile(join(this.folder, name), '');
  }

  isUp(name: string): boolean {
    return existsSync(join(this.folder, name));
  }

  async clear(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
    await mkdir(this.folder);
  }
}

interface Result {
  id: number;
  status: string;
  /** All of its bytes but the moments in its section marks, which no two builds have in common. */
  trace: string;
  files: Record<string, Buffer>;
}

/** What comes of the build when nothing happens to it. */
async function buildOf(
  forge: Forge,
  project: Project,
  { flags, tree }: { flags: Flags; tree: WorkTree },
): Promise<Result> {
  await flags.raise('go', 'end');
  await tree.commit({ '.gitlab-ci.yml': pipeline(flags.folder) });
  await tree.git('push', '--quiet', forge.cloneUrl(project), 'master');
  const [build] = await forge.ended(project, 1);
  return resultOf(forge, project, build?.id ?? 0);
}

async function resultOf(forge: Forge, project: Project, id: number): Promise<Result> {
  const build = await forge.build(project, id);
  const trace = await forge.trace(project, build);
  return {
    id,
    status: build.status,
    trace: trace.replaceAll(/(section_(?:start|end)):\d+/g, '$1:0'),
    files: await unzip(await forge.artifacts(project, build)),
  };
}

interface RunningBuild {
  forge: Forge;
  project: Project;
  id: number;
}

async function killUnderBuild(hearth: Hearth, { forge, project, id }: RunningBuild): Promise<void> {
  await poll('build at work', 60_000, async () => {
    return (await forge.trace(project, { id })).includes(before) || null;
  });
  await hearth.kill();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

function pipeline(flags: string): string {
  return `
job:
  variables: { FLAGS: "${flags}", GIT_STRATEGY: clone }
  script:
    - seq 1 500 | sed "s/^/before ö€ /"
    - until [ -e "$FLAGS/go" ]; do sleep 0.1; done
    - seq 1 20000 | sed "s/^/after ö€ /"
    - until [ -e "$FLAGS/end" ]; do sleep 0.1; done
    - seq 1 100000 > out.txt
    - touch "$FLAGS/done"
  artifacts: { paths: [out.txt] }
`;
}
