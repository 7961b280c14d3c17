import { forbidden, invalid, notFound } from '../errors.ts';
import { admin, signedIn } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { anything, flag, optional, pathId, text, type Values } from '../http/params.ts';
import { createApplication, removeApplication } from '../oauth/applications.ts';
import { ApplicationJson, NewApplicationJson, presentApplication } from '../present/oauth-application.ts';
import { type ApplicationRow, listApplications } from '../queries/oauth-applications.ts';
import { mayRegisterApplications } from '../queries/sign-in-settings.ts';
import type { Work } from '../services.ts';

const attributes = {
  name: text({ max: 255 }),
  /** One per line, or a list. */
  redirect_uri: { ...anything(), list: true },
  scopes: optional(text({ max: 255 })),
  confidential: optional(flag()),
};

const listAll = endpoint({
  method: 'GET',
  path: '/applications',
  summary: 'All programs that act for users',
  access: admin(),
  returns: ApplicationJson,
  list: true,
  run: async ({ page, work }) =>
    (await paginate<ApplicationRow>(work.em, listApplications(null), page)).map(presentApplication),
});

const createForAll = endpoint({
  method: 'POST',
  path: '/applications',
  summary: 'Registers a program for the whole instance; its secret is told once',
  access: admin(),
  params: attributes,
  returns: NewApplicationJson,
  run: async ({ params, work }) => register(work, params, null),
});

const removeAny = endpoint({
  method: 'DELETE',
  path: '/applications/:id',
  summary: 'Removes a program with its tokens',
  access: admin(),
  params: { id: pathId() },
  returns: ApplicationJson,
  run: async ({ params, work }) => remove(work, params.id, null),
});

const listOwn = endpoint({
  method: 'GET',
  path: '/user/applications',
  summary: 'Programs that oneself registered',
  access: signedIn(),
  returns: ApplicationJson,
  list: true,
  run: async ({ viewer, page, work }) =>
    (await paginate<ApplicationRow>(work.em, listApplications(viewer.id), page)).map(presentApplication),
});

const createOwn = endpoint({
  method: 'POST',
  path: '/user/applications',
  summary: 'Registers a program of oneself, where the instance lets users; its secret is told once',
  access: signedIn(),
  params: attributes,
  returns: NewApplicationJson,
  async run({ viewer, params, work }) {
    if (!viewer.is_admin && !(await mayRegisterApplications(work.em))) throw forbidden();
    return register(work, params, viewer.id);
  },
});

const removeOwn = endpoint({
  method: 'DELETE',
  path: '/user/applications/:id',
  summary: 'Removes a program of oneself with its tokens',
  access: signedIn(),
  params: { id: pathId() },
  returns: ApplicationJson,
  run: async ({ viewer, params, work }) => remove(work, params.id, viewer.id),
});

async function register(work: Work, params: Values<typeof attributes>, ownerId: number | null) {
  if (params.scopes !== undefined && params.scopes.trim() !== 'api') {
    throw invalid({ scopes: ["doesn't match configured on the server."] });
  }
  const { application, secret } = await createApplication(work, {
    name: params.name,
    redirectUris: readLines(params.redirect_uri),
    confidential: params.confidential ?? true,
    ownerId,
  });
  return { ...presentApplication(application), secret };
}

function readLines(given: unknown): string[] {
  const texts = (Array.isArray(given) ? given : [given]).map((item) => {
    if (typeof item !== 'string') throw invalid({ redirect_uri: ['is invalid'] });
    return item;
  });
  return texts.flatMap((item) => item.split(/\s+/)).filter((line) => line !== '');
}

async function remove(work: Work, id: number, ownerId: number | null) {
  const removed = await removeApplication(work, { id, ownerId });
  if (!removed) throw notFound('Application');
  return presentApplication(removed);
}

export const endpoints: Endpoint[] = [listAll, createForAll, removeAny, listOwn, createOwn, removeOwn];
