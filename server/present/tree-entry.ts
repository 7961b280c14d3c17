import { z } from 'zod';

/** Interface: "Tree entry", and `path`, which tells equal names of several folders apart. */
export const TreeEntryJson = z.strictObject({
  name: z.string(),
  type: z.enum(['tree', 'blob', 'commit']),
  mode: z.string(),
  id: z.string(),
  path: z.string(),
});
export type TreeEntryJson = z.infer<typeof TreeEntryJson>;

/** @param path from the root of the repository. */
export function presentTreeEntry(
  { name, type, mode, id }: Omit<TreeEntryJson, 'path'>,
  path: string,
): TreeEntryJson {
  return { name, type, mode, id, path };
}
