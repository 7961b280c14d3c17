import type { MadeBuild, MadeProject } from '../../test/support/make.ts';
import type { Figure } from '../figure.ts';
import { startBare } from './bare.ts';
import { Client } from './client.ts';
import { addIssues } from './issues.ts';
import { callsPerSecond, takeTurns } from './measure.ts';
import { copyBuild } from './seed.ts';
import { rootToken, type World, withWorld } from './world.ts';

const lanes = 8;
const builds = 1000;
const issues = 1000;

export interface Reads {
  project: MadeProject;
  build: MadeBuild;
  issueId: number;
  /** Requests per second for a path of ours and one of the bare server. */
  compare(paths: { ours: string; limit: string }): Promise<{ ours: number; limit: number }>;
}

/** A project with many finished builds and many issues, ours and a bare server on it, and a way to compare them. */
export function compareReads(scale: number, use: (reads: Reads) => Promise<Figure[]>): Promise<Figure[]> {
  return withWorld(async (world) => {
    const { project, build, issueId } = await seed(world);
    const args = [world.databaseUrl, String(project.id), String(build.id), String(issueId)];
    const bare = new Client(await startBare(world, { program: 'bare-rows.ts', args }), lanes);
    const ours = new Client(world.url, lanes);
    world.cleanup.add(() => bare.close());
    world.cleanup.add(() => ours.close());
    const headers = { 'PRIVATE-TOKEN': rootToken };
    const compare: Reads['compare'] = async (paths) => {
      const seconds = Math.max(1, 4 * scale);
      const turn = (client: Client, path: string) => () =>
        callsPerSecond({ lanes, seconds }, () => client.call({ path, headers }));
      const sides = { ours: turn(ours, paths.ours), limit: turn(bare, paths.limit) };
      // Both get warm first.
      await takeTurns({ rounds: 1, ...sides });
      return takeTurns({ rounds: 3, ...sides });
    };
    return use({ project, build, issueId, compare });
  });
}

async function seed(world: World): Promise<Omit<Reads, 'compare'>> {
  const runner = await world.make.runner();
  const project = await world.make.project();
  const columns = { user_id: project.owner.id };
  const build = await world.make.build(project, { status: 'success', runner, columns });
  await copyBuild(world, { build, count: builds - 1 });
  await addIssues(world, { projectIds: [project.id], each: issues });
  const { rows } = await world.db.query<{ id: number }>('select max(id) as id from issues');
  return { project, build, issueId: rows[0]?.id ?? 0 };
}
