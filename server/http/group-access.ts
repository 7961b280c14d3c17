import { forbidden, notFound } from '../errors.ts';
import { authorizeInGroup, type GroupAbility, mayCreateGroup } from '../policy/group.ts';
import { findGroupScope, type GroupScope } from '../queries/group-row.ts';
import type { Viewer } from '../queries/viewer.ts';
import { type Access, signedIn } from './access.ts';
import { unknownViewer, viewerKey } from './authenticate.ts';

/** The group named by `:id`: hidden with 404 from those who may not see it, then the ability. */
export function onGroup(ability: GroupAbility): Access<{ viewer: Viewer; group: GroupScope }> {
  return {
    kind: 'group',
    async load({ work, raw, header }) {
      const key = await viewerKey(work.em, { raw, header });
      const found = key && (await findGroupScope(work.em, key, String(raw.id)));
      if (!found) throw await unknownViewer(work.em, key);
      const { viewer, group } = found;
      if (!group) throw notFound('Group');
      authorizeInGroup(viewer, group, 'read_group');
      return { viewer, group };
    },
    check: ({ viewer, group }) => authorizeInGroup(viewer, group, ability),
  };
}

/** Whoever may make groups. */
export function groupMaker(): Access<{ viewer: Viewer }> {
  return {
    ...signedIn(),
    check({ viewer }) {
      if (!mayCreateGroup(viewer)) throw forbidden();
    },
  };
}
