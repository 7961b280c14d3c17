import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import Docker from 'dockerode';
import { dockerEngine } from './docker-engine.ts';
import { Program, poll, processesAbout } from './program.ts';

const run = promisify(execFile);

/** Milliseconds; an engine that finds dead containers looks after each of them when it starts. */
const startLimit = 120_000;
/** Milliseconds for a whole test, in which the engine may have to start several times. */
const testLimit = 600_000;

/**
 * A Docker engine of a test's own, which may be killed: dockerd and containerd with all they have in one folder and
 * on a network that leads nowhere. It needs root.
 */
export class OwnEngine {
  readonly folder: string;
  readonly socket: string;
  readonly docker: Docker;
  #programs: Program[] = [];

  private constructor(folder: string) {
    this.folder = folder;
    this.socket = join(folder, 'docker.sock');
    this.docker = new Docker({ socketPath: this.socket, host: undefined });
  }

  /** In the folder for temporary files, since the path of a socket must be short. */
  static async create(): Promise<OwnEngine> {
    return new OwnEngine(await mkdtemp(join(tmpdir(), 'hearth-e-')));
  }

  /** Starts it on what an earlier run has left, and waits until it answers. */
  async start(): Promise<void> {
    const containerd = join(this.folder, 'containerd');
    const address = join(containerd, 'containerd.sock');
    await mkdir(containerd, { recursive: true });
    const config = join(containerd, 'config.toml');
    await writeFile(config, containerdConfig(containerd, address));
    await rm(join(this.folder, 'docker.pid'), { force: true });
    const supervisor = this.#spawn('containerd', ['--config', config]);
    // A network of its own: two engines in one would take bridges and filters from each other.
    const args = ['--net', 'dockerd', ...this.#engineOptions(), '--containerd', address];
    const engine = this.#spawn('unshare', args);
    this.#programs = [supervisor, engine];
    let hasEnded = false;
    const ended = () => {
      hasEnded = true;
    };
    for (const program of this.#programs) program.ended.then(ended, ended);
    await poll('answer of the engine', startLimit, async () => {
      if (hasEnded) throw new Error(`the engine does not start:\n${this.log()}`);
      return this.docker.ping().catch(() => null);
    });
  }

  #engineOptions(): string[] {
    const at = (name: string) => join(this.folder, name);
    return [
      ...['--host', `unix://${this.socket}`, '--pidfile', at('docker.pid')],
      ...['--data-root', at('data'), '--exec-root', at('exec')],
      // Copies: mounts would be one more thing to tidy up, and do not work on every file system.
      ...['--storage-driver', 'vfs'],
    ];
  }

  #spawn(command: string, args: string[]): Program {
    return new Program({ cwd: this.folder, env: process.env, command, args });
  }

  /** Copies an image of the machine's engine. */
  async takeImage(image: string): Promise<void> {
    const source = await dockerEngine();
    if (!source) throw new Error('no Docker engine answers');
    const progress = await this.docker.loadImage(await source.getImage(image).get());
    for await (const line of progress) {
      if (String(line).includes('"error"')) throw new Error(`load of ${image}: ${line}`);
    }
  }

  /** Ends it as a crash would: containers and their keepers live on. */
  async kill(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.stop('SIGKILL').catch(() => null)));
    this.#programs = [];
  }

  /** As a power cut would, but for the machine: nothing of it lives on. */
  async killAll(): Promise<void> {
    const containers = await this.#containerProcesses();
    await this.kill();
    for (const id of [...(await this.#ownProcesses()), ...containers]) killHard(id);
  }

  async #containerProcesses(): Promise<number[]> {
    const running = await this.docker.listContainers().catch(() => []);
    const infos = await Promise.all(running.map(({ Id }) => this.docker.getContainer(Id).inspect()));
    return infos.map(({ State }) => State.Pid).filter((pid) => pid > 0);
  }

  /** Keepers of containers name the folder in their arguments. */
  async #ownProcesses(): Promise<number[]> {
    return (await processesAbout(this.folder)).map((line) => Number.parseInt(line, 10));
  }

  /** Removes everything of it from the machine. Safe after any failure. */
  async destroy(): Promise<void> {
    await this.killAll();
    await poll('end of the processes of the engine', startLimit, async () => {
      const left = await this.#ownProcesses();
      for (const id of left) killHard(id);
      return left.length === 0 || null;
    });
    for (const path of (await this.#mounts()).reverse()) await run('umount', ['--lazy', path]);
    await rm(this.folder, { recursive: true, force: true });
  }

  async #mounts(): Promise<string[]> {
    const lines = (await readFile('/proc/self/mounts', 'utf8')).split('\n');
    const paths = lines.map((line) => line.split(' ')[1] ?? '');
    return paths.filter((path) => path.startsWith(`${this.folder}/`));
  }

  log(): string {
    return this.#programs.map(({ stderr }) => stderr.slice(-10_000)).join('\n');
  }
}

function containerdConfig(folder: string, address: string): string {
  return [
    'version = 2',
    `root = "${folder}/root"`,
    `state = "${folder}/state"`,
    // Not the one for other programs than containers of an engine.
    'disabled_plugins = ["io.containerd.grpc.v1.cri"]',
    '[grpc]',
    `address = "${address}"`,
    '[debug]',
    'level = "warn"',
    '',
  ].join('\n');
}

function killHard(id: number): void {
  try {
    process.kill(id, 'SIGKILL');
  } catch {
    // It has ended by itself meanwhile.
  }
}

/**
 * A test with an engine of its own. Skipped, which is said, where none can be started; fails there instead when
 * HEARTH_REQUIRE_DOCKER is 1.
 */
export function ownEngineTest(
  title: string,
  implementation: (t: ExecutionContext, engine: OwnEngine) => Promise<void>,
): void {
  test(title, async (t) => {
    t.timeout(testLimit);
    const engine = await OwnEngine.create();
    t.teardown(() => engine.destroy());
    const reason = await startOrReason(engine);
    if (reason === null) {
      await implementation(t, engine);
      if (!t.passed) t.log(engine.log());
      return;
    }
    if (process.env.HEARTH_REQUIRE_DOCKER === '1') throw new Error(reason);
    process.stderr.write(`\nSKIPPED: ${title}: no engine of its own can be started: ${reason}\n`);
    t.log(`skipped: ${reason}`);
    t.pass();
  });
}

async function startOrReason(engine: OwnEngine): Promise<string | null> {
  if ((await dockerEngine()) === null) return 'no Docker engine answers that has the image';
  try {
    await engine.start();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
