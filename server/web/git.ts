import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import Router from '@koa/router';
import type { Context } from 'koa';
import { recordPush } from '../actions/record-push.ts';
import { pipelinesPerPush, pushIdentity, settlePush } from '../actions/settle-push.ts';
import { readPushOptions } from '../ci/push-options.ts';
import { AppError, badRequest } from '../errors.ts';
import { GitProtocolError } from '../git/errors.ts';
import { guardMoves } from '../git/guarded-moves.ts';
import { type PushCommand, type PushHead, readCommands } from '../git/push-commands.ts';
import { withMessages } from '../git/push-messages.ts';
import { refusePush } from '../git/refuse-push.ts';
import { decodeBody } from '../git/request-body.ts';
import type { GitEnd } from '../git/run-git.ts';
import {
  advertiseRefs,
  begun,
  type GitService,
  receivePack,
  smartHttpHeaders,
  uploadPack,
} from '../git/smart-http.ts';
import { clientGone } from '../http/client-gone.ts';
import { originOf } from '../http/mount.ts';
import { pipelinesOfPush } from '../queries/push-pipelines.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Services, Work } from '../services.ts';
import { type GitAccess, type GitRight, gitAccess } from './git-access.ts';
import { linesForPusher, type PushOutcome } from './push-notices.ts';
import { pushRulesFor } from './push-rules.ts';

/** Clone, fetch and push over HTTP: `/namespace/project.git/…`. */
export function gitRouter(services: Services): Router {
  const router = new Router();
  const reader = services.orm.em.fork();
  const workOf = (ctx: Context): Work => ({ ...services, em: reader, origin: originOf(ctx, services) });
  router.get('/:namespace/:project/info/refs', (ctx) => plainErrors(ctx, () => infoRefs(workOf(ctx), ctx)));
  router.post('/:namespace/:project/git-upload-pack', (ctx) =>
    plainErrors(ctx, () => fetchPack(workOf(ctx), ctx)),
  );
  router.post('/:namespace/:project/git-receive-pack', (ctx) =>
    plainErrors(ctx, () => push(workOf(ctx), ctx)),
  );
  return router;
}

/** Git shows the text of an answer to its user; it reads no JSON. */
async function plainErrors(ctx: Context, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    // The client went away while it was sending: nobody is there to be told.
    if ((error as NodeJS.ErrnoException).code === 'ECONNRESET' && ctx.req.destroyed) return;
    const known = error instanceof GitProtocolError ? badRequest(error.message) : error;
    if (!(known instanceof AppError) || known.status >= 500) throw known;
    ctx.status = known.status;
    ctx.set(known.headers);
    ctx.set('Content-Type', 'text/plain');
    ctx.body = `${known.message}\n`;
  }
}

async function infoRefs(work: Work, ctx: Context): Promise<void> {
  const signal = clientGone(ctx);
  const service = ctx.query.service;
  if (service !== 'git-upload-pack' && service !== 'git-receive-pack') {
    throw new AppError({
      status: 403,
      message: 'Only the smart protocol of git is spoken here; update your git.',
    });
  }
  const { project } = await accessOf(work, ctx, service === 'git-upload-pack' ? 'read' : 'write');
  const dir = repositoryOf(work, project);
  const { headers, body } = await advertiseRefs({ dir, service, protocol: protocolOf(ctx), signal });
  ctx.body = body;
  ctx.set(headers);
}

async function fetchPack(work: Work, ctx: Context): Promise<void> {
  const signal = clientGone(ctx);
  const { project } = await accessOf(work, ctx, 'read');
  const answer = uploadPack({
    dir: repositoryOf(work, project),
    body: ctx.req,
    protocol: protocolOf(ctx),
    gzip: isGzipped(ctx),
    signal,
  });
  ctx.body = await begun(answer, signal);
  setHeaders(ctx, 'git-upload-pack');
}

async function push(work: Work, ctx: Context): Promise<void> {
  const signal = clientGone(ctx);
  const access = await accessOf(work, ctx, 'write');
  const body = decodeBody(ctx.req, { gzip: isGzipped(ctx) });
  const { replay, ...head } = await readCommands(body);
  const { refusal, guarded } = await pushRulesFor(work, access, head.commands);
  if (refusal !== null) {
    // The client reads no answer before it has sent everything.
    await finished(replay.resume());
    ctx.body = refusePush(head, () => refusal);
  } else {
    ctx.body = await receive(work, ctx, { access, head, guarded, replay, signal });
  }
  setHeaders(ctx, 'git-receive-pack');
}

async function accessOf(work: Work, ctx: Context, right: GitRight): Promise<GitAccess> {
  const access = await gitAccess(work, ctx, right);
  ctx.state.viewer = access.viewer?.id;
  return access;
}

interface PushParts {
  access: GitAccess;
  head: PushHead;
  /** Those that must not be forced. */
  guarded: PushCommand[];
  replay: Readable;
  signal: AbortSignal;
}

/**
 * Records the push, lets git do it, and ends the answer only when its consequences are written: a client that sees
 * the end sees the pipeline too.
 */
async function receive(
  work: Work,
  ctx: Context,
  { access, head, guarded, replay, signal }: PushParts,
): Promise<Readable> {
  const { skipCi, unknown } = readPushOptions(head.pushOptions);
  const mark = skipCi ? { skipCi } : {};
  const changes = head.commands.map(({ ref, oldSha, newSha }) => ({ ref, oldSha, newSha, ...mark }));
  const userId = access.viewer?.id ?? null;
  const isProbe = changes.length === 0;
  const pushId = isProbe ? 0 : await recordPush(work, { projectId: access.project.id, userId, changes });
  const { output, done } = receivePack({
    dir: repositoryOf(work, access.project),
    body: replay,
    protocol: protocolOf(ctx),
    identity: pushIdentity(pushId),
    guard: await guardMoves(guarded),
    signal,
  });
  const settled = done.then((end) => (isProbe ? noOutcome : settle(work, pushId, end)));
  const { capabilities } = head;
  const messages = async () => linesForPusher({ ...(await settled), unknownOptions: unknown });
  const answer = Readable.from(withMessages(output, { capabilities, messages }), { objectMode: false });
  // Also when nobody ever began to read it: git must not wait for somebody to take its report.
  answer.once('close', () => output.destroy());
  return answer;
}

const noOutcome: PushOutcome = { pipelines: [], leftOut: 0, pipelinesPerPush };

/** A failure here is mended by the task that was queued with the push. */
async function settle(work: Work, pushId: number, end: GitEnd): Promise<PushOutcome> {
  // Ended by a signal, git leaves locks and packs behind: the push stays recorded until they are cleared away.
  const isClean = end.signal === null;
  const outcome = { ...noOutcome };
  const onLeftOut = (refs: number) => {
    outcome.leftOut = refs;
  };
  try {
    await settlePush(work, pushId, { isOver: isClean, onLeftOut });
    outcome.pipelines = await pipelinesOfPush(work.em, pushId);
    return outcome;
  } catch (error) {
    work.log.error({ err: error, push: pushId }, 'a push could not be settled yet');
    return noOutcome;
  }
}

function protocolOf(ctx: Context): string | undefined {
  return ctx.get('git-protocol') || undefined;
}

function setHeaders(ctx: Context, service: GitService): void {
  ctx.set(smartHttpHeaders(service, 'result'));
}

function isGzipped(ctx: Context): boolean {
  return /^(?:x-)?gzip$/i.test(ctx.get('content-encoding'));
}
