import Router from '@koa/router';
import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import type { Services } from '../services.ts';
import { version } from '../version.ts';
import type { Endpoint } from './endpoint.ts';
import { originOf } from './mount.ts';
import { sendJson } from './respond.ts';

const ErrorJson = z.object({ message: z.union([z.string(), z.record(z.string(), z.unknown())]) });

/** The OpenAPI 3.1 document of an interface below `url`, made from the declarations that also serve it. */
function openApiDocument(endpoints: readonly Endpoint[], url: string) {
  const paths: ZodOpenApiPathsObject = {};
  for (const declared of endpoints) {
    const path = declared.path.replace(/[:*](\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [declared.method.toLowerCase()]: operation(declared) };
  }
  return createDocument({
    openapi: '3.1.0',
    info: { title: 'Hearth', version, description: 'Projects, repositories and continuous integration' },
    servers: [{ url }],
    security: [{ privateToken: [] }, { bearer: [] }],
    components: {
      securitySchemes: {
        privateToken: { type: 'apiKey', in: 'header', name: 'PRIVATE-TOKEN' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
    paths,
  });
}

/** Serves the document, which is made once; only where the interface is depends on how it was reached. */
export function openApiRouter(
  endpoints: readonly Endpoint[],
  { prefix, services }: { prefix: string; services: Services },
): Router {
  const router = new Router();
  let document: ReturnType<typeof openApiDocument> | null = null;
  router.get(`${prefix}/openapi.json`, (ctx) => {
    document ??= openApiDocument(endpoints, prefix);
    sendJson(ctx, { ...document, servers: [{ url: originOf(ctx, services) + prefix }] });
  });
  return router;
}

function operation(declared: Endpoint): ZodOpenApiOperationObject {
  const status = String(declared.status ?? (declared.method === 'POST' ? 201 : 200));
  const operationObject: ZodOpenApiOperationObject = {
    summary: declared.summary,
    requestParams: requestParams(declared),
    responses: {
      [status]: { description: 'Done', content: content(declared) },
      default: { description: 'Error', content: { 'application/json': { schema: ErrorJson } } },
    },
  };
  const body = bodyShape(declared);
  if (body) operationObject.requestBody = { content: { 'application/json': { schema: body } } };
  if (declared.access.kind === 'anyone') operationObject.security = [];
  return operationObject;
}

function requestParams(declared: Endpoint): NonNullable<ZodOpenApiOperationObject['requestParams']> {
  const names = [...declared.path.matchAll(/[:*](\w+)/g)].map((match) => match[1] ?? '');
  const path: Record<string, z.ZodType> = {};
  for (const name of names) path[name] = declared.params?.[name]?.schema ?? z.string();
  const query: Record<string, z.ZodType> = {};
  if (declared.method === 'GET') Object.assign(query, shapeOf(declared));
  if (declared.list)
    Object.assign(query, { page: z.int().optional(), per_page: z.int().max(100).optional() });
  return { path: z.object(path), query: z.object(query) };
}

function bodyShape(declared: Endpoint): z.ZodType | null {
  if (declared.method === 'GET' || declared.body === 'stream') return null;
  const shape = shapeOf(declared);
  return Object.keys(shape).length > 0 ? z.object(shape) : null;
}

function shapeOf(declared: Endpoint): Record<string, z.ZodType> {
  const inPath = new Set([...declared.path.matchAll(/[:*](\w+)/g)].map((match) => match[1]));
  const shape: Record<string, z.ZodType> = {};
  for (const [name, param] of Object.entries(declared.params ?? {})) {
    if (!inPath.has(name)) shape[name] = param.required ? param.schema : param.schema.optional();
  }
  return shape;
}

function content(declared: Endpoint): Record<string, { schema: z.ZodType }> {
  const type = declared.returns.meta()?.contentType;
  if (typeof type === 'string') return { [type]: { schema: z.string() } };
  return { 'application/json': { schema: declared.list ? z.array(declared.returns) : declared.returns } };
}
