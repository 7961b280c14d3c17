/** Where clones come from. */
export interface CloneAddresses {
  origin: string;
  ssh: { host: string; port: number } | null;
}

/** `git@host:path.git`, or the longer form where SSH is not on its own port. */
export function sshUrl(fullPath: string, { origin, ssh }: CloneAddresses): string {
  const host = ssh?.host ?? new URL(origin).hostname;
  if (!ssh || ssh.port === 22) return `git@${host}:${fullPath}.git`;
  return `ssh://git@${host}:${ssh.port}/${fullPath}.git`;
}
