/** Where clones come from. */
export interface CloneAddresses {
  origin: string;
  /** Where SSH listens; null where it is off. */
  sshPort: number | null;
}

/** `git@host:path.git`, or the longer form where SSH is not on its own port. */
export function sshUrl(fullPath: string, { origin, sshPort }: CloneAddresses): string {
  const host = new URL(origin).hostname;
  if (sshPort === null || sshPort === 22) return `git@${host}:${fullPath}.git`;
  return `ssh://git@${host}:${sshPort}/${fullPath}.git`;
}
