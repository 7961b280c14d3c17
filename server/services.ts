import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import type { TraceAppender } from './actions/trace-appender.ts';
import type { CatFile } from './git/cat-file.ts';
import type { Mailer } from './mail/mailer.ts';
import type { Queue } from './queue.ts';
import type { Secrets } from './secrets.ts';
import type { BlobStorage } from './storage/storage.ts';
import type { BuildWakeups } from './wakeups.ts';

/** What the whole process shares. Nothing in here remembers anything that must survive it. */
export interface Services {
  orm: MikroORM;
  /** Reads objects of the repositories. */
  objects: CatFile;
  storage: BlobStorage;
  secrets: Secrets;
  queue: Queue;
  wakeups: BuildWakeups;
  traceAppender: TraceAppender;
  /** Sends messages; null where no mail server is set. */
  mail: Mailer | null;
  log: Logger;
  /** Folder of the bare repositories. */
  repositoriesDir: string;
  /** Folders that are written to, each perhaps on a disk of its own. */
  writtenDirs: string[];
  /** What URLs start with where no request says it better, without a slash at the end. */
  baseUrl: string;
  /** True when the base URL was set and must be used for every answer. */
  baseUrlFixed: boolean;
  /** Where git is served over SSH, on the hosts that HTTP has too; null while it is off. */
  sshPort: number | null;
  /** `201`: every create answers 201, which some clients insist on. */
  createStatus: 'documented' | '201';
  /** How often an address, and an account, may try to sign in with a password; 0: without limit. */
  signInsPerMinute: number;
}

/** The services as one request or job has them. */
export interface Work extends Services {
  /** In a writing request: inside its one transaction. */
  em: EntityManager;
  /** What URLs in this answer start with. */
  origin: string;
}
