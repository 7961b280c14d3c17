import type { Readable } from 'node:stream';
import { feedGit } from './request-body.ts';
import { type GitEnd, spawnGit } from './run-git.ts';
import { killOnAbort, protocolFor } from './smart-http.ts';

const stallMs = 600_000;

export interface ConversationRequest {
  dir: string;
  command: 'upload-pack' | 'upload-archive';
  /** What the client says, for as long as it speaks. */
  input: Readable;
  /** The version of the protocol that the client asked for. */
  protocol: string | undefined;
  /** Aborts when the client goes away. */
  signal: AbortSignal;
}

export interface Conversation {
  /** What git says to the client; ends with git, however that ends. */
  output: AsyncIterable<Buffer>;
  /** Whether git has said anything to the client so far. */
  hasSpoken(): boolean;
  /** Never rejects. */
  ended: Promise<GitEnd>;
  /** The last 4 KB of what git said beside that, without the place of the repository. */
  complaint(): string;
}

/**
 * Lets git talk with a client over one connection to the end, as SSH has it. Git is ended when the client goes away, and
 * when for ten minutes it has taken nothing.
 */
export function converse({ dir, command, input, protocol, signal }: ConversationRequest): Conversation {
  const args = command === 'upload-pack' ? [command, '--strict', dir] : [command, dir];
  const git = spawnGit({ args, protocol: protocolFor('git-upload-pack', protocol) });
  killOnAbort(git, signal);
  feedGit(input, git);
  const stall = setTimeout(() => git.kill(), stallMs);
  void git.ended.then(() => clearTimeout(stall));
  let hasSpoken = false;
  const onTaken = () => {
    hasSpoken = true;
    stall.refresh();
  };
  return {
    output: noting(git.child.stdout, onTaken),
    hasSpoken: () => hasSpoken,
    ended: git.ended,
    complaint: () => git.stderr().replaceAll(dir, 'the repository').trim(),
  };
}

async function* noting(chunks: AsyncIterable<Buffer>, onTaken: () => void): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    yield chunk;
    onTaken();
  }
}
