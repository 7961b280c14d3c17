import Router from '@koa/router';
import type { Context } from 'koa';
import { AppError, badRequest } from '../errors.ts';
import { GitProtocolError } from '../git/errors.ts';
import { decodeBody } from '../git/request-body.ts';
import { advertiseRefs, begun, type GitService, smartHttpHeaders, uploadPack } from '../git/smart-http.ts';
import { clientGone } from '../http/client-gone.ts';
import { originOf } from '../http/mount.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Services, Work } from '../services.ts';
import type { GitAccess, GitRight } from '../transport/git-access.ts';
import { takePush } from '../transport/take-push.ts';
import { gitAccess } from './git-access.ts';

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
    ctx.state.errorsArePlain = true;
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
  const { answer } = await takePush(work, { access, body, protocol: protocolOf(ctx), signal });
  ctx.body = answer;
  setHeaders(ctx, 'git-receive-pack');
}

async function accessOf(work: Work, ctx: Context, right: GitRight): Promise<GitAccess> {
  const access = await gitAccess(work, ctx, right);
  ctx.state.viewer = access.viewer?.id;
  return access;
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
