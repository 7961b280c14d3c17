/** What clients may take of a server. Times in milliseconds. */
export interface SshLimits {
  /** Connections at once: of all, of one address (or IPv6 network), and of those that have not signed in yet. */
  connections: number;
  perAddress: number;
  strangers: number;
  /** Sessions of a connection at once. */
  sessions: number;
  /** Keys, or other proofs, that a connection may offer. Agents hold many. */
  offers: number;
  /** Time to sign in. */
  graceMs: number;
  /** A connection that does nothing for so long is closed. */
  idleMs: number;
  /** A command in which nothing moves for so long is ended; before a push, a client may run its tests. */
  stallMs: number;
  /** How often a silent client is asked whether it is there; three times in vain, and it is gone. */
  keepAliveMs: number;
}

export const usualLimits: SshLimits = {
  connections: 500,
  perAddress: 100,
  strangers: 100,
  sessions: 10,
  offers: 20,
  graceMs: 60_000,
  idleMs: 600_000,
  stallMs: 3_600_000,
  keepAliveMs: 30_000,
};
