import { addEmail, removeEmail } from '../actions/emails.ts';
import { invalid, notFound } from '../errors.ts';
import { admin, signedIn } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { type Late, late, settle } from '../http/late-params.ts';
import { paginate } from '../http/paginate.ts';
import { pathId, text } from '../http/params.ts';
import { EmailJson, presentEmail, presentRemovedEmail, RemovedEmailJson } from '../present/email.ts';
import { type EmailRow, findEmail, listEmails } from '../queries/emails.ts';
import type { Work } from '../services.ts';
import { failingAsNotFound, requireUser } from './admin-scope.ts';

const emailParams = { email: late(text()) };

const listOwn = endpoint({
  method: 'GET',
  path: '/user/emails',
  summary: 'Further e-mail addresses of oneself',
  access: signedIn(),
  returns: EmailJson,
  list: true,
  async run({ viewer, page, work }) {
    return (await paginate<EmailRow>(work.em, listEmails(viewer.id), page)).map(presentEmail);
  },
});

const getOwn = endpoint({
  method: 'GET',
  path: '/user/emails/:id',
  summary: 'One further e-mail address of oneself',
  access: signedIn(),
  params: { id: pathId() },
  returns: EmailJson,
  async run({ viewer, params, work }) {
    const row = await findEmail(work.em, viewer.id, params.id);
    if (!row) throw notFound();
    return presentEmail(row);
  },
});

const addOwn = endpoint({
  method: 'POST',
  path: '/user/emails',
  summary: 'Adds an e-mail address of oneself',
  access: signedIn(),
  params: emailParams,
  returns: EmailJson,
  run: async ({ viewer, params, work }) => presentEmail(await add(work, viewer.id, params)),
});

const removeOwn = endpoint({
  method: 'DELETE',
  path: '/user/emails/:id',
  summary: 'Removes an e-mail address of oneself; null when there is none',
  access: signedIn(),
  params: { id: pathId() },
  returns: RemovedEmailJson.nullable(),
  async run({ viewer, params, work }) {
    const row = await removeEmail(work, viewer.id, params.id);
    return row && presentRemovedEmail(row);
  },
});

const listOther = endpoint({
  method: 'GET',
  path: '/users/:uid/emails',
  summary: 'Further e-mail addresses of a user',
  access: admin(),
  params: { uid: pathId() },
  returns: EmailJson,
  list: true,
  async run({ params, page, work }) {
    await requireUser(work.em, params.uid);
    return (await paginate<EmailRow>(work.em, listEmails(params.uid), page)).map(presentEmail);
  },
});

const addOther = endpoint({
  method: 'POST',
  path: '/users/:uid/emails',
  summary: 'Adds an e-mail address of a user; what is wrong with it is told with 404',
  access: admin(),
  params: { uid: pathId(), ...emailParams },
  returns: EmailJson,
  async run({ params, work }) {
    await requireUser(work.em, params.uid);
    return presentEmail(await failingAsNotFound(add(work, params.uid, params)));
  },
});

const removeOther = endpoint({
  method: 'DELETE',
  path: '/users/:uid/emails/:id',
  summary: 'Removes an e-mail address of a user',
  access: admin(),
  params: { uid: pathId(), id: pathId() },
  returns: RemovedEmailJson,
  async run({ params, work }) {
    await requireUser(work.em, params.uid);
    const row = await removeEmail(work, params.uid, params.id);
    if (!row) throw notFound('Email');
    return presentRemovedEmail(row);
  },
});

async function add(work: Work, userId: number, { email }: { email: Late<string> }): Promise<EmailRow> {
  const { values, faults } = settle({ email });
  if (values.email === undefined) throw invalid(faults);
  return addEmail(work, userId, values.email);
}

export const endpoints: Endpoint[] = [listOwn, getOwn, addOwn, removeOwn, listOther, addOther, removeOther];
