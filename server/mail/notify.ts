import type { Work } from '../services.ts';
import type { Happening } from './happening.ts';

/** Finds whom something concerns, and queues a message to each. */
export async function notify(_work: Work, _task: { happening: Happening }): Promise<void> {}
