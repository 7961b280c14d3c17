import { LRUCache } from 'lru-cache';
import { CatFileEnded, CatFileProcess } from './cat-file-process.ts';
import { isUnanswerable, type ObjectInfo, type ObjectReply, type Question } from './cat-file-reply.ts';
import { type Commit, parseCommit } from './commit.ts';
import { GitError, ObjectTooLargeError } from './errors.ts';
import { checkRefName, isSha } from './ref-name.ts';
import { parseTree, type Tree } from './tree.ts';

export interface CatFileOptions {
  /** Processes at once; further repositories wait for one to become idle. 32 unless told. */
  maxProcesses?: number;
  /** A process unused for so long is closed. 30 s unless told. */
  idleMs?: number;
  /** 30 s unless told. */
  timeoutMs?: number;
  /** Bytes of the largest object that is held in memory. 32 MB unless told. */
  objectLimit?: number;
  /** Bytes of memory for trees that were read. 64 MB unless told. */
  treeMemory?: number;
  /** Bytes of memory for small files that were read. 16 MB unless told. */
  fileMemory?: number;
}

export interface GitObject extends ObjectInfo {
  data: Buffer;
}

interface Entry {
  process: CatFileProcess;
  /** Goes off so long after the last answer. */
  idleTimer: NodeJS.Timeout;
}

const remembered = 20_000;

const megabyte = 1024 * 1024;
const standard = {
  maxProcesses: 32,
  idleMs: 30_000,
  timeoutMs: 30_000,
  objectLimit: 32 * megabyte,
  treeMemory: 64 * megabyte,
  fileMemory: 16 * megabyte,
};

/** Bytes of a file that is remembered. */
const smallFile = 64 * 1024;

/**
 * Reads objects through one long-lived `git cat-file` per repository in use. It sees objects and refs that
 * appear after it was started, and is started anew when it dies.
 *
 * A `spec` is `revision` or `revision:path`, the revision an object id, a ref in full or `HEAD`, optionally
 * with `^{commit}` or `^{tree}`. Anything else, like anything that does not exist, is answered by null.
 */
export class CatFile {
  private readonly options: Required<CatFileOptions>;
  /** The least recently used first. */
  private readonly entries = new Map<string, Entry>();
  private readonly waiting: (() => void)[] = [];
  /** By their ids, which say what is in them: nothing in here can be out of date. */
  private readonly trees: LRUCache<string, Tree>;
  private readonly files: LRUCache<string, Buffer>;
  /** Ids of the root trees of commits, likewise. */
  private readonly roots = new LRUCache<string, string>({ max: remembered });
  /** What is known of objects by their ids, likewise; whether a repository has one is asked each time. */
  private readonly infos = new LRUCache<string, ObjectInfo>({ max: remembered });
  private isClosed = false;

  constructor(options: CatFileOptions = {}) {
    this.options = { ...standard, ...options };
    const sizeCalculation = ({ weight }: Tree) => weight;
    this.trees = new LRUCache({ maxSize: this.options.treeMemory, sizeCalculation });
    const sizeOfFile = ({ length }: Buffer) => 200 + length;
    this.files = new LRUCache({ maxSize: this.options.fileMemory, sizeCalculation: sizeOfFile });
  }

  /** Id, type and size of an object, without its contents. */
  async readInfo(dir: string, spec: string): Promise<ObjectInfo | null> {
    const reply = await this.ask(dir, { command: 'info', spec });
    if (reply === null) return null;
    const info = { sha: reply.sha, type: reply.type, size: reply.size };
    this.infos.set(info.sha, info);
    return info;
  }

  /** Throws an ObjectTooLargeError above `limit` bytes. */
  async readObject(dir: string, spec: string, limit?: number): Promise<GitObject | null> {
    const info = this.infos.get(spec) ?? (await this.readInfo(dir, spec));
    if (info === null) return null;
    const allowed = limit ?? this.options.objectLimit;
    if (info.size > allowed) {
      throw new ObjectTooLargeError({ attempted: `read ${spec}`, size: info.size, limit: allowed });
    }
    // By its id, so that a ref moving in between cannot bring in another, larger object.
    const reply = await this.ask(dir, { command: 'contents', spec: info.sha });
    return reply?.data ? { ...info, data: reply.data } : null;
  }

  /** The bytes of a file, such as `<sha>:.gitlab-ci.yml`; null when there is no such file. */
  async readBlob(dir: string, spec: string, limit?: number): Promise<Buffer | null> {
    const object = await this.readObject(dir, spec, limit);
    return object?.type === 'blob' ? object.data : null;
  }

  /** Throws an ObjectTooLargeError above `limit` bytes. */
  async readCommit(dir: string, revision: string, limit?: number): Promise<Commit | null> {
    const object = await this.readObject(dir, `${revision}^{commit}`, limit);
    return object && parseCommit(object.sha, object.data);
  }

  /** Id of the root tree of a commit of this repository, given its id in full; null when it is none. */
  async readRoot(dir: string, commit: string): Promise<string | null> {
    const known = this.roots.get(commit);
    if (known !== undefined) return known;
    const root = await this.readInfo(dir, `${commit}^{tree}`);
    if (root !== null) this.roots.set(commit, root.sha);
    return root?.sha ?? null;
  }

  /**
   * A tree by its id, which must come from a commit or tree of this repository: one that was read from another
   * repository is given back without looking whether this one has it too.
   */
  async readTree(dir: string, id: string): Promise<Tree | null> {
    const known = this.trees.get(id);
    if (known || !isSha(id)) return known ?? null;
    const object = await this.readObject(dir, id);
    if (object?.type !== 'tree') return null;
    const tree = parseTree(object.data);
    this.trees.set(id, tree);
    return tree;
  }

  /**
   * The bytes of a file by its id, which must come from a tree of this repository: a small one that was read from
   * another repository is given back without looking whether this one has it too. Nobody may write to them.
   *
   * @throws ObjectTooLargeError above `limit` bytes.
   */
  async readFile(dir: string, id: string, limit?: number): Promise<Buffer | null> {
    const known = this.files.get(id);
    if (known && known.length <= (limit ?? smallFile)) return known;
    const object = await this.readObject(dir, id, limit);
    if (object?.type !== 'blob') return null;
    if (isSha(id) && object.size <= smallFile) this.files.set(id, object.data);
    return object.data;
  }

  /** Starts the process of a repository that will be asked soon, where there is room for one. */
  prepare(dir: string): void {
    if (this.isClosed || this.entries.has(dir)) return;
    const entry = this.start(dir);
    if (entry !== null) this.touch(dir, entry);
  }

  /** Closes the process of a repository that is about to be removed. */
  forget(dir: string): void {
    const entry = this.entries.get(dir);
    if (entry !== undefined) this.drop(dir, entry);
  }

  /** Ends every process; running questions are answered first, later ones refused. */
  close(): void {
    this.isClosed = true;
    for (const [dir, entry] of this.entries) this.drop(dir, entry);
    for (const wake of this.waiting.splice(0)) wake();
  }

  /** The processes running now, for metrics and tests. */
  pids(): number[] {
    return [...this.entries.values()].flatMap(({ process }) => process.pid ?? []);
  }

  private async ask(dir: string, question: Question): Promise<ObjectReply | null> {
    if (!isSpec(question.spec)) return null;
    try {
      return await this.dispatch(dir, question);
    } catch (error) {
      if (!(error instanceof CatFileEnded)) throw error;
      return this.dispatch(dir, question);
    }
  }

  /** Finds the process and asks it in one go: in between, another question could make it give way. */
  private async dispatch(dir: string, question: Question): Promise<ObjectReply | null> {
    for (;;) {
      if (this.isClosed) throw new GitError({ attempted: `read from ${dir}`, stderr: 'shutting down' });
      const entry = this.entries.get(dir) ?? this.start(dir);
      if (entry !== null) return this.touch(dir, entry).ask(question);
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  private start(dir: string): Entry | null {
    if (this.entries.size >= this.options.maxProcesses) {
      const idle = [...this.entries].find(([, { process }]) => process.isIdle);
      if (idle === undefined) return null;
      this.drop(...idle);
    }
    const process = new CatFileProcess({
      dir,
      timeoutMs: this.options.timeoutMs,
      onIdle: () => this.rest(entry),
      onEnd: () => this.drop(dir, entry),
    });
    const closeIdle = () => {
      if (process.isIdle) this.drop(dir, entry);
    };
    const entry: Entry = { process, idleTimer: setTimeout(closeIdle, this.options.idleMs).unref() };
    return entry;
  }

  private touch(dir: string, entry: Entry): CatFileProcess {
    this.entries.delete(dir);
    this.entries.set(dir, entry);
    return entry.process;
  }

  private rest(entry: Entry): void {
    entry.idleTimer.refresh();
    this.waiting.shift()?.();
  }

  private drop(dir: string, entry: Entry): void {
    clearTimeout(entry.idleTimer);
    if (this.entries.get(dir) === entry) this.entries.delete(dir);
    entry.process.close();
    this.waiting.shift()?.();
  }
}

const revision = /^(?:[0-9a-f]{4,40}|HEAD|(refs\/[^:^]+))(?:\^\{(?:commit|tree)\})?(?::|$)/;

/** Only plain names reach git: its search and walk syntax would let one question cost minutes. */
function isSpec(spec: string): boolean {
  const match = revision.exec(spec);
  if (match === null || isUnanswerable(spec)) return false;
  return match[1] === undefined || checkRefName(match[1]);
}
