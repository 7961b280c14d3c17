import type { Happening } from './happening.ts';

/** What a message tells, with all that may be gone by the time it is sent. */
export type News =
  | { kind: 'new_key'; title: string }
  | { kind: 'new_email'; email: string }
  | { kind: 'member'; in: 'project' | 'group'; id: number; accessLevel: number; by: number }
  | { kind: 'project_moved'; projectId: number; oldPath: string; by: number }
  | { kind: 'happening'; happening: Happening };

export interface MailTask {
  news: News;
  userId: number;
  /** Stands in the id of the message, the same at each try. */
  mailId: string;
  /** From 1 on. */
  attempt: number;
}

/** What a message says, without its recipient. */
export interface Letter {
  fromName: string | null;
  subject: string;
  text: string;
  headers: Record<string, string>;
  /** In place of the task's, where later messages refer to this one. */
  id?: string;
}
