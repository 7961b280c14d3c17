import { readdir } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import pg from 'pg';
import { pktLine } from '../../server/git/pkt-line.ts';
import { zeroSha } from '../../server/git/ref-name.ts';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { type TestApp, withApp } from './app.ts';
import { eventually } from './eventually.ts';
import { cloneUrl, packOf, type WorkTree, withWorkTrees } from './git.ts';
import type { MadeProject } from './make.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';

export interface CrashScene {
  project: MadeProject;
  dir: string;
  tree: WorkTree;
  /** The commit that is pushed. */
  sha: string;
  server: ServerProcess;
}

export interface Consequences {
  pipelines: string[];
  events: string[];
}

/** Pushes to servers that are going to crash, and what is there of them afterwards. Call at the top of the file. */
export function withCrashingPushes() {
  const holder = withApp({ poolSize: 3 });
  const trees = withWorkTrees();

  /** A project with a master, a commit with a CI file that is to be pushed, and a server that is going to crash. */
  async function scene(t: ExecutionContext, { isEmpty = false } = {}): Promise<CrashScene> {
    const { app } = holder;
    const project = await app.make.project();
    const tree = await trees.fresh();
    await tree.commit();
    const url = cloneUrl(app, project, { password: project.owner.token });
    if (!isEmpty) await tree.git('push', '--quiet', url, 'master');
    const sha = await tree.commit({ '.gitlab-ci.yml': 'compile: {script: make}' });
    const dir = repositoryDir(app.services.repositoriesDir, project.id);
    return { project, dir, tree, sha, server: await startServerProcess(t, app) };
  }

  /** A push of the branch `side` in pieces: the commands at once, the pack when it is asked for. */
  async function beginPush(at: CrashScene): Promise<{ socket: ClientRequest; pack: Buffer }> {
    const { project, tree, sha, server } = at;
    const socket = openPush(server, project);
    socket.write(Buffer.concat([sideCommand(sha), Buffer.from('0000')]));
    await eventually(async () => (await pushesOf(project)).length === 1);
    return { socket, pack: await packOf(tree.dir, sha) };
  }

  function pushesOf({ id }: { id: number }): Promise<{ id: number }[]> {
    return holder.app.rows('select id from pushes where project_id = $1', [id]);
  }

  /** Refs of the pipelines and of the events beside master, in order. */
  async function consequences({ project: { id } }: Pick<CrashScene, 'project'>): Promise<Consequences> {
    const { rows } = holder.app;
    const pipelines = await rows<{ ref: string }>('select ref from pipelines where project_id = $1', [id]);
    const events = await rows<{ ref: string }>(
      `select ref from events where project_id = $1 and ref <> 'refs/heads/master'`,
      [id],
    );
    return {
      pipelines: pipelines.map(({ ref }) => ref).sort(),
      events: events.map(({ ref }) => ref).sort(),
    };
  }

  /** Lets the hours pass after which a push that is still open is forgotten. */
  async function letHoursPass(): Promise<void> {
    await holder.app.runAllTasks();
    await holder.app.rows(`update pushes set created_at = now() - interval '3 hours'`);
    await holder.app.runAllTasks();
  }

  return { holder, trees, scene, beginPush, pushesOf, consequences, letHoursPass, ...databaseLocks(holder) };
}

export function databaseLocks(holder: { app: TestApp }) {
  /** Holds a lock in the database until the test lets go of it. */
  async function hold(t: ExecutionContext, statement: string, values: unknown[] = []) {
    const client = new pg.Client({ connectionString: holder.app.databaseUrl });
    await client.connect();
    await client.query('begin');
    await client.query(statement, values);
    const release = () => client.end();
    t.teardown(release);
    return { release };
  }

  /** How many statements wait for a lock, of those whose text is like this. */
  async function waiters(pattern = '%'): Promise<number> {
    const rows = await holder.app.rows(
      `select 1 from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
      [pattern],
    );
    return rows.length;
  }

  async function somebodyWaits(): Promise<boolean> {
    return (await waiters()) > 0;
  }

  return { hold, waiters, somebodyWaits };
}

/** A push whose body is written by the test. */
export function openPush(server: { url: string }, project: MadeProject): ClientRequest {
  const socket = request(`${server.url}/${project.fullPath}.git/git-receive-pack`, {
    method: 'POST',
    auth: `x:${project.owner.token}`,
  });
  socket.on('error', () => undefined);
  socket.on('response', (response) => response.on('error', () => undefined).resume());
  return socket;
}

/** The line that creates the branch `side`. */
export function sideCommand(sha: string): Buffer {
  return pktLine(`${zeroSha} ${sha} refs/heads/side\0report-status`);
}

/** What was received of packs that are not complete. */
export async function incoming({ dir }: Pick<CrashScene, 'dir'>): Promise<string[]> {
  return (await readdir(join(dir, 'objects'))).filter((name) => /incoming/.test(name));
}
