/** The five states of a build, interface: "States and transitions". */
export const buildStatuses = ['pending', 'running', 'failed', 'success', 'canceled'] as const;

export type BuildStatus = (typeof buildStatuses)[number];

/** True for the three states that a build never leaves. */
export function isFinished(status: BuildStatus): boolean {
  return status === 'success' || status === 'failed' || status === 'canceled';
}
