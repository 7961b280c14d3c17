import { Namespace } from '../entities/namespace.ts';
import { Settings } from '../entities/settings.ts';
import { requireOpenLevel } from '../policy/visibility.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import type { NewGroup } from './create-group.ts';
import { given } from './given.ts';
import { requireGroupWords, requireNoneHigher } from './group-rules.ts';
import { lockGroup } from './lock-group.ts';
import { announceNamespaceMove } from './move-namespace.ts';

/**
 * Changes what is given and leaves the rest. With the path, the addresses of all its projects change,
 * of which the system hooks are told.
 *
 * @throws AppError 400 with the faults.
 */
export async function updateGroup(
  work: Work,
  { viewer, id, change }: { viewer: Viewer; id: number; change: Partial<NewGroup> },
): Promise<void> {
  const { em } = work;
  await lockGroup(work, id, 'whole');
  const group = await em.findOneOrFail(Namespace, { id });
  const { name, path, description } = group;
  const { visibilityLevel: level, shareLock: shareWithGroupLock, ...newWords } = change;
  const words = { name, path, description, ...given(newWords) };
  await requireGroupWords(work, { id, ...words });
  if (level !== undefined && level !== group.visibilityLevel) {
    requireOpenLevel(level, { viewer, settings: await em.findOneOrFail(Settings, { id: 1 }) });
    if (level < group.visibilityLevel) await requireNoneHigher(work, id, level);
  }
  await em.nativeUpdate(
    Namespace,
    { id },
    given({ ...newWords, visibilityLevel: level, shareWithGroupLock }),
  );
  await sql(em, 'update namespaces set updated_at = now() where id = $1', [id]);
  if (words.path !== path) await announceNamespaceMove(work, { namespaceId: id, oldPath: path });
}
