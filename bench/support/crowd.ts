import { poll } from '../../test/support/program.ts';
import { type BenchmarkSettings, cost, type Figure } from '../figure.ts';
import { Client } from './client.ts';
import { callsPerSecond, takeTurns } from './measure.ts';
import { rootToken, type World, withWorld } from './world.ts';

const lanes = 4;
const sizes = { small: { projects: 1000, users: 100 }, large: { projects: 100_000, users: 10_000 } };
/** Projects of each user. */
const share = 10;
/** Projects, and users, that are found by the word `wanted`, however many there are. */
const wanted = 40;

export interface Page {
  name: string;
  /** What to ask for where there are so many projects and users. */
  path(size: { projects: number; users: number }): string;
}

/** What the same requests cost among a hundred thousand projects and among a thousand, measured in turns. */
export function compareCrowds({ scale }: BenchmarkSettings, pages: Page[]): Promise<Figure[]> {
  const { projects, users } = sizes.large;
  const large = { projects: Math.max(1000, projects * scale), users: Math.max(100, users * scale) };
  return withWorld((small) =>
    withWorld(async (other) => {
      const few = await crowded(small, sizes.small);
      const many = await crowded(other, large);
      const compared = pages.map(({ name, path }) => ({
        name: `${name}, of ${large.projects} beside 1000`,
        ours: path(large),
        limit: path(sizes.small),
      }));
      return comparePages({ many, few, scale }, compared);
    }),
  );
}

export interface ComparedPage {
  name: string;
  /** What to ask for among many, and the same among few. */
  ours: string;
  limit: string;
}

/** Milliseconds of each page among many, which may be twice those among few; measured in turns. */
export async function comparePages(
  { many, few, scale }: { many: Client; few: Client; scale: number },
  pages: ComparedPage[],
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, ours, limit } of pages) {
    const seconds = Math.max(0.5, scale);
    const turns = {
      ours: () => milliseconds(many, ours, seconds),
      limit: () => milliseconds(few, limit, seconds),
    };
    // Both get warm first.
    await takeTurns({ rounds: 1, ...turns });
    const found = await takeTurns({ rounds: 3, ...turns });
    figures.push(cost({ name, unit: 'ms', ...found }, 2));
  }
  return figures;
}

async function milliseconds(client: Client, path: string, seconds: number): Promise<number> {
  const headers = { 'PRIVATE-TOKEN': rootToken };
  return 1000 / (await callsPerSecond({ lanes, seconds }, () => client.call({ path, headers })));
}

/** Fills a world with so many. @returns who asks it. */
export async function crowded(
  world: World,
  { projects, users }: { projects: number; users: number },
): Promise<Client> {
  const { db } = world;
  await db.query(addUsers, [users]);
  // Its token stands in all of them: one that cannot be opened is no answer.
  await world.make.project();
  await db.query(addProjects, [projects]);
  await db.query(`select graphile_worker.add_job('sum_project_counts', '{}')`);
  await poll('the sum of the projects', 60_000, async () => {
    const { rows } = await db.query<{ changes: number }>(
      'select count(*)::int as changes from project_counts',
    );
    return (rows[0]?.changes ?? projects) < 100 ? true : null;
  });
  for (const table of ['users', 'namespaces', 'projects', 'project_members']) {
    await db.query(`vacuum analyze ${table}`);
  }
  const client = new Client(world.url, lanes);
  world.cleanup.add(() => client.close());
  return client;
}

/** As many as told, each with a namespace. */
const addUsers = `
  with made as (
    insert into users (username, name, email, password_hash, private_token_digest, private_token_sealed)
    select 'user-' || n, case when n <= ${wanted} then 'Wanted ' else 'Somebody ' end || n, 'user-' || n || '@example.com', '', sha256(convert_to('user' || n, 'utf8')), ''
    from generate_series(1, $1::int) n returning id, username
  )
  insert into namespaces (kind, path, name, owner_id) select 'user', username, username, id from made`;

/** Spread over the users, and members like those that a creation makes. */
const addProjects = `
  with owners as (
    select id, owner_id, row_number() over (order by id) - 1 as n from namespaces where path like 'user-%'
  ), made as (
    insert into projects (namespace_id, creator_id, name, path, description, visibility_level, created_at,
      last_activity_at, runners_token_digest, runners_token_sealed)
    select o.id, o.owner_id, case when p.n <= ${wanted} then 'Wanted ' else 'Project ' end || p.n, 'project-' || p.n, 'What the project ' || md5(p.n::text) || ' is about',
      (p.n % 3) * 10, now() - p.n * interval '1 minute', now() - (p.n * 7919 % 100000) * interval '1 minute',
      sha256(convert_to('project' || p.n, 'utf8')), (select runners_token_sealed from projects limit 1)
    from generate_series(1, $1::int) p (n) join owners o on o.n = (p.n - 1) / ${share}
    returning id, creator_id
  )
  insert into project_members (project_id, user_id, access_level) select id, creator_id, 40 from made`;
