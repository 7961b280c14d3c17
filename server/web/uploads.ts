import Router from '@koa/router';
import type { Context } from 'koa';
import { nothingHere } from '../errors.ts';
import { originOf } from '../http/mount.ts';
import { shownHeaders } from '../http/shown-headers.ts';
import { can } from '../policy/project.ts';
import { imageType } from '../present/upload.ts';
import { findProject, type ProjectRow } from '../queries/project-row.ts';
import { type UploadRow, uploadBySecret } from '../queries/uploads.ts';
import type { Services, Work } from '../services.ts';
import { viewerOf } from './viewer-of.ts';

/** Uploaded files: below the address of their project, and by the address that their upload was answered with. */
export function uploadsRouter(services: Services): Router {
  const router = new Router();
  const reader = services.orm.em.fork();
  const serve = (ctx: Context) => send({ ...services, em: reader, origin: originOf(ctx, services) }, ctx);
  router.get('/uploads/:secret/:name', serve);
  router.get('/:namespace/:project/uploads/:secret/:name', serve);
  return router;
}

/** To those who may read the project; others hear the same as of a file that is not there. */
async function send(work: Work, ctx: Context): Promise<void> {
  const found = await findReadable(work, ctx);
  const blob = found && (await work.storage.get(found.blob_key));
  if (!blob) throw nothingHere();
  const type = imageType(found.filename);
  ctx.body = blob.stream;
  const disposition = `${type ? 'inline' : 'attachment'}; filename="${found.filename}"`;
  ctx.set(shownHeaders({ type: type ?? 'application/octet-stream', size: blob.size, disposition }));
}

async function findReadable(work: Work, ctx: Context): Promise<UploadRow | null> {
  const { secret, name } = ctx.params;
  if (!/^[0-9a-f]{32}$/.test(secret ?? '')) return null;
  const viewer = await viewerOf(work, ctx);
  const upload = await uploadBySecret(work.em, secret);
  if (!upload || upload.filename !== name) return null;
  const project = await findProject(work.em, String(upload.project_id), viewer);
  if (!project || !isPlaceOf(project, ctx) || !can(viewer, project, 'read_project')) return null;
  return upload;
}

function isPlaceOf(project: ProjectRow, { params }: Context): boolean {
  if (params.namespace === undefined) return true;
  const given = `${params.namespace}/${params.project}`.toLowerCase();
  return given === `${project.namespace_path}/${project.path}`.toLowerCase();
}
