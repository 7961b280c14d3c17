import { type ObjectReply, type Question, ReplyReader } from './cat-file-reply.ts';
import { GitError } from './errors.ts';
import { type GitProcess, spawnGit } from './run-git.ts';

/** The process ended before it had answered; the question may be put to a new one. */
export class CatFileEnded extends GitError {}

interface Waiting {
  question: Question;
  /** Others were under way with it, so that a complaint of git may be about any of them. */
  hadCompany: boolean;
  /** It is put with no other. */
  isAlone: boolean;
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

/** Questions under way at once: what wakes git up, and us, is not each of them. */
const mostAsked = 16;

/** One `git cat-file` of one repository. It answers in the order of the questions. */
export class CatFileProcess {
  private readonly options: CatFileProcessOptions;
  private readonly git: GitProcess;
  /** Not put yet. */
  private readonly queue: Waiting[] = [];
  /** Those of them about the size only, by what they ask for: several who ask alike get one answer. */
  private readonly infos = new Map<string, Promise<ObjectReply | null>>();
  /** Under way. */
  private readonly asked: Waiting[] = [];
  private reader: ReplyReader | null = null;
  private readonly timer: NodeJS.Timeout;
  private isPutting = false;
  /** An answer waits for what git may still say on stderr. */
  private isListening = false;
  private isOver = false;
  /** What git has said on stderr since the last question that began alone. */
  private complaint = '';

  constructor(options: CatFileProcessOptions) {
    this.options = options;
    this.git = spawnGit({ dir: options.dir, args: ['cat-file', '--batch-command', '-z'] });
    this.git.child.stdout.on('data', (chunk: Buffer) => this.read(chunk));
    this.git.child.stderr.on('data', (text: string) => {
      this.complaint += text;
    });
    this.timer = setTimeout(() => this.giveUp(), options.timeoutMs).unref();
    void this.git.ended.then((end) => this.end(end.failure));
  }

  get isIdle(): boolean {
    return this.queue.length === 0 && this.asked.length === 0;
  }

  get pid(): number | undefined {
    return this.git.child.pid;
  }

  ask(question: Question): Promise<ObjectReply | null> {
    if (this.isOver) return Promise.reject(new CatFileEnded({ attempted: `read ${question.spec}` }));
    const same = question.command === 'info' ? this.infos.get(question.spec) : undefined;
    if (same) return same;
    const reply = new Promise<ObjectReply | null>((resolve, reject) => {
      this.queue.push({ question, hadCompany: false, isAlone: false, resolve, reject });
    });
    if (question.command === 'info') this.infos.set(question.spec, reply);
    this.putSoon();
    return reply;
  }

  /** Lets git end once it has answered what it was asked. */
  close(): void {
    this.putAll();
    this.git.child.stdin.end();
  }

  /** Those that come out of all that has arrived by now go out together. */
  private putSoon(): void {
    if (this.isPutting) return;
    this.isPutting = true;
    setImmediate(() => this.putAll());
  }

  private putAll(): void {
    this.isPutting = false;
    let text = '';
    while (this.mayPut()) {
      const next = this.queue.shift();
      if (next === undefined) break;
      if (this.asked.length === 0) this.complaint = '';
      this.asked.push(next);
      if (next.question.command === 'info') this.infos.delete(next.question.spec);
      if (this.asked.length > 1) for (const waiting of this.asked) waiting.hadCompany = true;
      text += `${next.question.command} ${next.question.spec}\0`;
    }
    if (text === '') return;
    if (this.reader === null) this.expect();
    this.git.child.stdin.write(text);
  }

  private mayPut(): boolean {
    if (this.isListening || this.isOver || this.asked.length >= mostAsked) return false;
    return this.asked.length === 0 || !(this.queue[0]?.isAlone || this.asked[0]?.isAlone);
  }

  private expect(): void {
    const [head] = this.asked;
    this.reader = head ? new ReplyReader(head.question) : null;
    if (head) this.timer.refresh();
  }

  private read(chunk: Buffer): void {
    try {
      let rest = chunk;
      while (this.reader !== null && rest.length > 0) {
        const reply = this.reader.push(rest);
        if (reply === undefined) return;
        rest = this.reader.rest;
        this.answer(reply);
      }
    } catch (error) {
      // Its further answers could belong to any question.
      this.git.killNow();
      this.end(error);
    }
  }

  private answer(reply: ObjectReply | null): void {
    const head = this.asked.shift();
    this.expect();
    if (reply !== null) head?.resolve(reply);
    else if (head) this.answerMissing(head);
    if (this.queue.length > 0) this.putSoon();
    else if (this.isIdle) this.options.onIdle();
  }

  /** Git answers alike for what was never there and for what it cannot read, and complains about the latter only. */
  private answerMissing(head: Waiting): void {
    if (head.hadCompany && !head.isAlone) {
      this.queue.unshift({ ...head, isAlone: true });
      return;
    }
    this.isListening = true;
    this.asked.unshift(head);
    // What git said before the answer has come by then, though it took another way.
    setImmediate(() => {
      this.isListening = false;
      if (this.isOver) return;
      const stderr = faultsIn(this.complaint);
      const { spec } = head.question;
      this.asked.shift();
      if (stderr === '') head.resolve(null);
      else head.reject(new GitError({ attempted: `read ${spec}`, stderr }));
      if (this.queue.length > 0) this.putSoon();
      else this.options.onIdle();
    });
  }

  private giveUp(): void {
    if (this.asked.length > 0) this.git.killNow();
  }

  private end(cause: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.timer);
    this.options.onEnd();
    for (const { question, reject } of [...this.asked.splice(0), ...this.queue.splice(0)]) {
      reject(new CatFileEnded({ attempted: `read ${question.spec}`, stderr: this.git.stderr(), cause }));
    }
  }
}
