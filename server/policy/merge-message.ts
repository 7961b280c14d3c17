/** The message of a merge commit where the one who merges gives none. */
export function mergeMessage(mergeRequest: {
  source_branch: string;
  target_branch: string;
  title: string;
  description: string | null;
  iid: number;
}): string {
  const { source_branch, target_branch, title, description, iid } = mergeRequest;
  return [
    `Merge branch '${source_branch}' into '${target_branch}'`,
    title,
    description ?? '',
    `See merge request !${iid}`,
  ].join('\n\n');
}
