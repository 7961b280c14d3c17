import Router from '@koa/router';
import type { Context } from 'koa';
import { nothingHere } from '../errors.ts';
import { findLogo, type Logo } from '../git/logo.ts';
import { openBlob } from '../git/open-blob.ts';
import { contentDisposition } from '../http/content-disposition.ts';
import { originOf } from '../http/mount.ts';
import { shownHeaders } from '../http/shown-headers.ts';
import { can } from '../policy/project.ts';
import { imageType } from '../present/upload.ts';
import { findProject } from '../queries/project-row.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Services, Work } from '../services.ts';
import { viewerOf } from './viewer-of.ts';

/** The picture among the files of a project, below the address of the project. */
export function projectAvatarRouter(services: Services): Router {
  const router = new Router();
  const reader = services.orm.em.fork();
  router.get('/:namespace/:project/avatar', (ctx: Context) =>
    send({ ...services, em: reader, origin: originOf(ctx, services) }, ctx),
  );
  return router;
}

/** To those who may read the files of the project; others hear the same as of a project without a picture. */
async function send(work: Work, ctx: Context): Promise<void> {
  const found = await findReadable(work, ctx);
  const blob = found && (await work.objects.readInfo(found.dir, found.id));
  if (!blob) throw nothingHere();
  ctx.body = await openBlob(work.objects, found.dir, blob);
  const type = imageType(found.name) ?? 'application/octet-stream';
  const disposition = contentDisposition('inline', found.name);
  ctx.set(shownHeaders({ type, size: blob.size, disposition }));
}

async function findReadable(work: Work, ctx: Context): Promise<(Logo & { dir: string }) | null> {
  const viewer = await viewerOf(work, ctx);
  const project = await findProject(work.em, `${ctx.params.namespace}/${ctx.params.project}`, viewer);
  if (!project || project.default_branch === null || !can(viewer, project, 'read_code')) return null;
  const dir = repositoryOf(work, project);
  const logo = await findLogo(work.objects, dir, project.default_branch);
  return logo && { ...logo, dir };
}
