import { z } from 'zod';
import type { NamespaceRow } from '../queries/groups.ts';

/** Interface: "Namespace". */
export const NamespaceJson = z.strictObject({
  id: z.number(),
  path: z.string(),
  kind: z.enum(['user', 'group']),
});

export function presentNamespace({ id, path, kind }: NamespaceRow): z.infer<typeof NamespaceJson> {
  return { id, path, kind };
}
