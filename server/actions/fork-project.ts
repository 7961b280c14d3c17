import { randomUUID } from 'node:crypto';
import type { Namespace } from '../entities/namespace.ts';
import { Settings } from '../entities/settings.ts';
import { AppError, conflict, notFound } from '../errors.ts';
import { forkRepository } from '../git/fork.ts';
import { removeRepository } from '../git/repository.ts';
import { repositoryDir } from '../git/repository-path.ts';
import { removeStaging, stagingDir } from '../git/staging.ts';
import { forkVisibility } from '../policy/fork-visibility.ts';
import { restrictedFor } from '../policy/visibility.ts';
import type { ProjectRow } from '../queries/project-row.ts';
import type { Viewer } from '../queries/viewer.ts';
import { newToken } from '../secrets.ts';
import type { Work } from '../services.ts';
import { inTransaction, sql, sqlOne } from '../sql.ts';
import { protectDefaultBranch } from './branch-protection.ts';
import { addOwner, announceNewProject } from './create-project.ts';
import { type PlaceName, requireRoom, takenFaults, takePlace } from './project-place.ts';
import { recordEvent } from './record-event.ts';

export interface ForkWish {
  viewer: Viewer;
  source: ProjectRow;
  /** Id or path of the namespace that it goes to; the viewer's own unless told. */
  namespace?: string | undefined;
}

/**
 * Makes a project with the branches and tags of another one. The repository is there before the project is, so that
 * nobody sees one without the other. Call it outside of a transaction: none is held while files are made.
 *
 * @returns its id.
 * @throws AppError 404 without such a namespace, 409 when the name or path is taken in it or the source is being
 * imported, 403 when the owner of the namespace has as many projects as he may.
 */
export async function forkProject(work: Work, wish: ForkWish): Promise<number> {
  if (wish.source.import_status === 'started') throw conflict('The project is being imported');
  // Before anything is made; what has changed by the end is seen there.
  await inTransaction(work, (inner) => requirePlace(inner, wish));
  const id = await nextId(work);
  const target = repositoryDir(work.repositoriesDir, id);
  const staging = stagingDir(work.repositoriesDir, { kind: 'fork', projectId: id }, randomUUID());
  const branch = await copyRepository(work, wish.source, { target, staging });
  try {
    await inTransaction(work, (inner) => addFork(inner, wish, { id, branch }));
  } catch (error) {
    // After a loss of the database the project may be there after all; then the sweep looks again, hours later.
    if (error instanceof AppError) await undo(target, staging);
    throw error;
  }
  await removeStaging(staging);
  return id;
}

interface Places {
  target: string;
  staging: string;
}

async function copyRepository(work: Work, source: ProjectRow, { target, staging }: Places) {
  const dir = repositoryDir(work.repositoriesDir, source.id);
  try {
    return await forkRepository({ source: dir, target, staging, head: source.default_branch });
  } catch (error) {
    await undo(target, staging);
    const left = await sqlOne(work.em, 'select 1 from projects where id = $1 and not pending_delete', [
      source.id,
    ]);
    throw left ? error : notFound('Project');
  }
}

async function undo(target: string, staging: string): Promise<void> {
  await removeRepository(target);
  await removeStaging(staging);
}

/** Ids are never used again, so one may be taken before it is known whether it will be needed. */
async function nextId({ em }: Work): Promise<number> {
  const row = await sqlOne<{ id: number }>(
    em,
    `select nextval(pg_get_serial_sequence('projects', 'id'))::int as id`,
  );
  if (!row) throw new Error('the sequence of projects gave no id');
  return row.id;
}

/** @throws AppError when there is no place for the fork. */
async function requirePlace(work: Work, { viewer, source, namespace }: ForkWish): Promise<Namespace> {
  const place = await takePlace(work, viewer, placeName(viewer, namespace));
  if (!place) throw notFound('Target Namespace');
  const taken = await takenFaults(work, { namespaceId: place.id, name: source.name, path: source.path });
  if (Object.keys(taken).length > 0) throw nameTaken();
  await requireRoom(work, place);
  return place;
}

function placeName(viewer: Viewer, namespace: string | undefined): PlaceName {
  if (namespace === undefined) return { ownerId: viewer.id };
  return /^\d{1,9}$/.test(namespace) ? { id: Number(namespace) } : { path: namespace };
}

function nameTaken(): AppError {
  const taken = ['has already been taken'];
  return new AppError({ status: 409, message: { name: taken, path: taken } });
}

interface NewFork {
  id: number;
  branch: string | null;
}

async function addFork(work: Work, wish: ForkWish, { id, branch }: NewFork): Promise<void> {
  const { viewer, source } = wish;
  const place = await requirePlace(work, wish);
  const settings = await work.em.findOneOrFail(Settings, { id: 1 });
  const visibility = forkVisibility({
    source: source.visibility_level,
    group: place.kind === 'group' ? place.visibilityLevel : null,
    restricted: restrictedFor({ viewer, settings }),
  });
  const stored = work.secrets.store(newToken());
  const values = [id, place.id, viewer.id, branch, visibility, stored.digest, stored.sealed, source.id];
  const added = await sqlOne(work.em, insertFork, values);
  if (!added) throw await nameOrSourceGone(work, source.id);
  await sql(work.em, 'update projects set forks_count = forks_count + 1 where id = $1', [source.id]);
  if (branch !== null) await protectDefaultBranch(work, id, branch);
  await addOwner(work, id, place);
  await recordEvent(work, { projectId: id, authorId: viewer.id, action: 'created' });
  await announceNewProject(work, id, place);
}

/** What describes a project and how it is built; not who may do what with it, its variables, triggers and runners. */
const insertFork = `
  insert into projects (id, namespace_id, creator_id, default_branch, visibility_level, runners_token_digest,
    runners_token_sealed, forked_from_id, name, path, description, avatar, logo, builds_enabled, shared_runners_enabled,
    public_builds, allow_git_fetch, build_timeout, build_coverage_regex, repository_size)
  select $1, $2, $3, $4, least($5, s.visibility_level), $6, $7, s.id, s.name, s.path, s.description, s.avatar, s.logo,
    s.builds_enabled, s.shared_runners_enabled, s.public_builds, s.allow_git_fetch, s.build_timeout,
    s.build_coverage_regex, s.repository_size
  from projects s where s.id = $8 and not s.pending_delete for no key update
  on conflict do nothing returning id`;

async function nameOrSourceGone({ em }: Work, sourceId: number): Promise<AppError> {
  const source = await sqlOne(em, 'select 1 from projects where id = $1 and not pending_delete', [sourceId]);
  return source ? nameTaken() : notFound('Project');
}
