import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { mkdir, open, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { runProgram } from './program.ts';

/** A disk of its own on a folder, held in memory, that a test can fill. */
export class SmallDisk {
  readonly path: string;
  readonly #filler: string;

  private constructor(path: string) {
    this.path = path;
    this.#filler = join(path, 'filler');
  }

  /** @param megabytes its size */
  static async mount(path: string, megabytes: number): Promise<SmallDisk> {
    await mkdir(path, { recursive: true });
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'tmpfs', path]);
    return new SmallDisk(path);
  }

  /** Leaves not a byte. */
  async fill(): Promise<void> {
    const file = await open(this.#filler, 'a');
    try {
      for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 4)) await fillBy(size, file);
    } finally {
      await file.close();
    }
  }

  /** Takes back what `fill` has written. */
  async makeRoom(): Promise<void> {
    await rm(this.#filler, { force: true });
  }

  async unmount(): Promise<void> {
    await run('umount', [this.path]);
    await rmdir(this.path);
  }
}

async function fillBy(size: number, file: { write(bytes: Buffer): Promise<unknown> }): Promise<void> {
  const bytes = Buffer.alloc(size);
  try {
    for (;;) await file.write(bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

function run(command: string, args: string[]): Promise<string> {
  return runProgram({ cwd: '/', env: process.env, command, args });
}

const canMount = tryToMount();
if (!canMount && process.env.HEARTH_REQUIRE_DOCKER === '1') {
  throw new Error('HEARTH_REQUIRE_DOCKER is 1, but this user cannot mount the small disks of these tests');
}
if (!canMount) process.stderr.write('DISK TESTS SKIPPED: this user cannot mount small disks to fill\n');

function tryToMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'hearth-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]);
  if (mounted.status === 0) spawnSync('umount', [folder]);
  spawnSync('rmdir', [folder]);
  return mounted.status === 0;
}

/** A test that mounts a disk, after those before it; skipped where this user may not. */
export function diskTest(title: string, implementation: (t: ExecutionContext) => Promise<void>): void {
  if (canMount) test.serial(title, implementation);
  else test.serial.skip(title, (t) => t.pass());
}
