import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type EarlyList, listEarly } from '../actions/list-early.ts';
import { recordPush } from '../actions/record-push.ts';
import { pipelinesPerPush, pushIdentity, settlePush } from '../actions/settle-push.ts';
import { readPushOptions } from '../ci/push-options.ts';
import { guardMoves } from '../git/guarded-moves.ts';
import { hideRefs } from '../git/hide-refs.ts';
import { type PushCommand, type PushHead, readCommands } from '../git/push-commands.ts';
import { withMessages } from '../git/push-messages.ts';
import { zeroSha } from '../git/ref-name.ts';
import { refusePush } from '../git/refuse-push.ts';
import type { GitEnd } from '../git/run-git.ts';
import { receivePack } from '../git/smart-http.ts';
import { pipelinesOfPush } from '../queries/push-pipelines.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import type { GitAccess } from './git-access.ts';
import { linesForPusher, type PushOutcome } from './push-notices.ts';
import { pushRulesFor } from './push-rules.ts';

export interface IncomingPush {
  access: GitAccess;
  /** What the client sends: commands, then the pack. It need not end when there is no pack. */
  body: Readable;
  /** The version of git's protocol that the client asked for. */
  protocol: string | undefined;
  /** Aborts when the client goes away. */
  signal: AbortSignal;
}

export interface TakenPush {
  /** The report for the client, which is made whether or not somebody reads it. */
  answer: Readable;
  /** How git ended; never rejects. A push that never reaches git ends well: its report says what is wrong. */
  ended: Promise<GitEnd>;
}

/**
 * Takes a push, however it comes in: reads what it wants, refuses it or records it, lets git do it, and ends the
 * answer only when its consequences are written: a client that sees the end sees the pipeline too.
 *
 * @throws GitProtocolError for what is no push; AppError 401 for a user who was blocked meanwhile.
 */
export async function takePush(work: Work, push: IncomingPush): Promise<TakenPush> {
  const { replay, ...head } = await readCommands(push.body);
  if (head.commands.length === 0) return nothingPushed(replay);
  const { readable, unreadable } = sortByName(head.commands);
  const rules = await pushRulesFor(work, push.access, readable);
  // Git passes over what is hidden even where it was asked for all or nothing.
  const isSpoilt = unreadable.length > 0 && head.capabilities.includes('atomic');
  const refusal = rules.refusal ?? (isSpoilt ? notUtf8 : null);
  const { guarded } = rules;
  if (refusal === null) return receive(work, { ...push, head, readable, unreadable, guarded, replay });
  // The client reads no answer before it has sent everything.
  if (head.commands.some(({ newSha }) => newSha !== zeroSha)) await finished(replay.resume());
  return answered(refusePush(head, () => refusal));
}

/** By sending nothing, clients find out whether they may push. Git would say nothing to that. */
function nothingPushed(replay: Readable): TakenPush {
  // Not waited for: it may go on. That it breaks off is nobody's loss.
  replay.on('error', () => undefined).resume();
  return answered(Buffer.alloc(0));
}

function answered(report: Buffer): TakenPush {
  const answer = Readable.from([report], { objectMode: false });
  return { answer, ended: Promise.resolve({ code: 0, signal: null }) };
}

const notUtf8 = 'The names of all refs of a push have to be UTF-8.';

/** Names that are no UTF-8 can neither be stored nor shown, so that nobody could do anything with such refs. */
function sortByName(commands: readonly PushCommand[]) {
  const unreadable = commands.filter(({ rawRef }) => rawRef !== undefined);
  return { readable: commands.filter(({ rawRef }) => rawRef === undefined), unreadable };
}

interface ReadPush extends IncomingPush {
  head: PushHead;
  readable: PushCommand[];
  /** Those that git is to refuse, and to do the rest. */
  unreadable: PushCommand[];
  /** Those that must not be forced. */
  guarded: PushCommand[];
  /** The whole body. */
  replay: Readable;
}

async function receive(
  work: Work,
  { access, head, readable, unreadable, guarded, replay, protocol, signal }: ReadPush,
): Promise<TakenPush> {
  const { skipCi, unknown } = readPushOptions(head.pushOptions);
  const mark = skipCi ? { skipCi } : {};
  const changes = readable.map(({ ref, oldSha, newSha }) => ({ ref, oldSha, newSha, ...mark }));
  const userId = access.viewer?.id ?? null;
  const isIdle = changes.length === 0;
  const pushId = isIdle ? 0 : await recordPush(work, { projectId: access.project.id, userId, changes });
  const dir = repositoryOf(work, access.project);
  const identity = pushIdentity(pushId);
  const hidden = await hideRefs(unreadable.flatMap(({ rawRef }) => rawRef ?? []));
  const guard = [...(await guardMoves(guarded)), ...hidden.config];
  const git = receivePack({ dir, body: replay, protocol, identity, guard, signal });
  // While git is at work, so that what comes after it need not wait.
  work.objects.prepare(dir);
  const { quarantine } = git;
  const early = listEarly(work, { dir, defaultBranch: access.project.default_branch, changes, quarantine });
  const done = git.done.finally(hidden.forget);
  const settled = done.then((end) => (isIdle ? noOutcome : settle(work, { pushId, end, early })));
  const { capabilities } = head;
  const notes = { unknownOptions: unknown, unreadableRefs: unreadable.map(({ ref }) => ref) };
  const messages = async () => linesForPusher({ ...(await settled), ...notes });
  const answer = Readable.from(withMessages(git.output, { capabilities, messages }), { objectMode: false });
  // Also when nobody ever began to read it: git must not wait for somebody to take its report.
  answer.once('close', () => git.output.destroy());
  return { answer, ended: done };
}

const noOutcome: PushOutcome = { pipelines: [], leftOut: 0, pipelinesPerPush };

/** A failure here is mended by the task that was queued with the push. */
async function settle(
  work: Work,
  { pushId, end, early }: { pushId: number; end: GitEnd; early: EarlyList },
): Promise<PushOutcome> {
  // Ended by a signal, git leaves locks and packs behind: the push stays recorded until they are cleared away.
  const isClean = end.signal === null;
  const outcome = { ...noOutcome };
  const onLeftOut = (refs: number) => {
    outcome.leftOut = refs;
  };
  try {
    await settlePush(work, pushId, { isOver: isClean, onLeftOut, early });
    outcome.pipelines = await pipelinesOfPush(work.em, pushId);
    return outcome;
  } catch (error) {
    work.log.error({ err: error, push: pushId }, 'a push could not be settled yet');
    return noOutcome;
  }
}
