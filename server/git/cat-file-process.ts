import { type ObjectReply, type Question, ReplyReader } from './cat-file-reply.ts';
import { GitError } from './errors.ts';
import { type GitProcess, spawnGit } from './run-git.ts';

/** The process ended before it had answered; the question may be put to a new one. */
export class CatFileEnded extends GitError {}

interface Waiting {
  question: Question;
  resolve: (reply: ObjectReply | null) => void;
  reject: (error: Error) => void;
}

export interface CatFileProcessOptions {
  dir: string;
  /** A question unanswered for so long ends the process. */
  timeoutMs: number;
  /** Called whenever the last waiting question has been answered. */
  onIdle: () => void;
  /** Called once, when the process takes no more questions. */
  onEnd: () => void;
}

/** Of something that is there and readable, but is none of what was asked for, or could be several. */
const harmless =
  /: expected \w+ type, but the object dereferences to \w+ type$|^error: short object ID \w+ is ambiguous$/;

function faultsIn(complaint: string): string {
  const faults = complaint
    .split('\n')
    .filter((line) => /^(?:error|fatal): /.test(line) && !harmless.test(line));
  return faults.join('\n');
}

/** One `git cat-file` of one repository. Questions asked at the same time wait for each other. */
export class CatFileProcess {
  private readonly options: CatFileProcessOptions;
  private readonly git: GitProcess;
  private readonly queue: Waiting[] = [];
  private reader: ReplyReader | null = null;
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;
  /** What git has said on stderr since the question at the head was put. */
  private complaint = '';

  constructor(options: CatFileProcessOptions) {
    this.options = options;
    this.git = spawnGit({ dir: options.dir, args: ['cat-file', '--batch-command', '-z'] });
    this.git.child.stdout.on('data', (chunk: Buffer) => this.read(chunk));
    this.git.child.stderr.on('data', (text: string) => {
      this.complaint += text;
    });
    void this.git.ended.then((end) => this.end(end.failure));
  }

  get isIdle(): boolean {
    return this.queue.length === 0;
  }

  get pid(): number | undefined {
    return this.git.child.pid;
  }

  ask(question: Question): Promise<ObjectReply | null> {
    return new Promise((resolve, reject) => {
      if (this.isOver) {
        reject(new CatFileEnded({ attempted: `read ${question.spec}` }));
        return;
      }
      this.queue.push({ question, resolve, reject });
      if (this.queue.length === 1) this.next();
    });
  }

  /** Lets git end once it has answered what it was asked. */
  close(): void {
    this.git.child.stdin.end();
  }

  private next(): void {
    const [head] = this.queue;
    if (head === undefined) {
      this.options.onIdle();
      return;
    }
    this.reader = new ReplyReader(head.question);
    this.complaint = '';
    this.timer = setTimeout(() => this.git.killNow(), this.options.timeoutMs);
    this.git.child.stdin.write(`${head.question.command} ${head.question.spec}\0`);
  }

  private read(chunk: Buffer): void {
    try {
      const reply = this.reader?.push(chunk);
      if (reply === undefined) return;
      clearTimeout(this.timer);
      this.reader = null;
      // What git said before the answer has come by then, though it took another way.
      if (reply === null) setImmediate(() => this.answerMissing());
      else this.answer(reply);
    } catch (error) {
      // Its further answers could belong to any question.
      this.git.killNow();
      this.end(error);
    }
  }

  private answer(reply: ObjectReply | null): void {
    this.queue.shift()?.resolve(reply);
    this.next();
  }

  /** Git answers alike for what was never there and for what it cannot read, and complains about the latter only. */
  private answerMissing(): void {
    if (this.isOver) return;
    const stderr = faultsIn(this.complaint);
    if (stderr === '') {
      this.answer(null);
      return;
    }
    const head = this.queue.shift();
    head?.reject(new GitError({ attempted: `read ${head.question.spec}`, stderr }));
    this.next();
  }

  private end(cause: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.timer);
    this.options.onEnd();
    for (const { question, reject } of this.queue.splice(0)) {
      reject(new CatFileEnded({ attempted: `read ${question.spec}`, stderr: this.git.stderr(), cause }));
    }
  }
}
