import { createLabel, removeLabel, updateLabel } from '../actions/labels.ts';
import { subscribe } from '../actions/subscribe.ts';
import { badRequest, conflict, notFound } from '../errors.ts';
import { onProject } from '../http/access.ts';
import { notModified } from '../http/answers.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { optional, pathText, readId, text } from '../http/params.ts';
import {
  ChangedLabelJson,
  LabelJson,
  presentChangedLabel,
  presentLabel,
  presentRemovedLabel,
  presentSubscribedLabel,
  RemovedLabelJson,
  SubscribedLabelJson,
} from '../present/label.ts';
import { findLabel, type LabelRow, listLabels } from '../queries/labels.ts';
import type { Work } from '../services.ts';

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/labels',
  summary: 'Labels of the project by name',
  access: onProject('read_label'),
  returns: LabelJson,
  list: true,
  async run({ project, page, work }) {
    return (await paginate<LabelRow>(work.em, listLabels(project.id), page)).map(presentLabel);
  },
});

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/labels',
  summary: 'Makes a label',
  access: onProject('admin_label'),
  params: { name: text(), color: text(), description: optional(text()) },
  status: 200,
  creates: true,
  returns: ChangedLabelJson,
  async run({ project, params: { name, color, description }, work }) {
    const made = await createLabel(work, project.id, { title: name, color, description });
    if (!made) throw conflict('Label already exists');
    return presentChangedLabel(made);
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/labels',
  summary: 'Gives a label another name or color, or both, and with these another description',
  access: onProject('admin_label'),
  params: {
    name: text(),
    new_name: optional(text()),
    color: optional(text()),
    description: optional(text()),
  },
  returns: ChangedLabelJson,
  async run({ project, params: { name, new_name, color, description }, work }) {
    if (new_name === undefined && color === undefined) {
      throw badRequest('Required parameters "new_name" or "color" missing');
    }
    const label = { projectId: project.id, title: name };
    const changed = await updateLabel(work, label, { title: new_name, color, description });
    if (!changed) throw notFound('Label');
    return presentChangedLabel(changed);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/labels',
  summary: 'Removes a label, and takes it from all that has it',
  access: onProject('admin_label'),
  params: { name: text() },
  returns: RemovedLabelJson,
  async run({ project, params, work }) {
    const removed = await removeLabel(work, { projectId: project.id, title: params.name });
    if (!removed) throw notFound('Label');
    return presentRemovedLabel(removed);
  },
});

export const endpoints: Endpoint[] = [
  list,
  create,
  update,
  remove,
  subscription('POST', 'Lets the caller hear of what gets the label; 304 when he does already'),
  subscription('DELETE', 'Lets the caller hear no more of what gets the label; 304 when he does not'),
];

function subscription(method: 'POST' | 'DELETE', summary: string): Endpoint {
  return endpoint({
    method,
    path: '/projects/:id/labels/:label_id/subscription',
    summary,
    access: onProject('read_label'),
    params: { label_id: pathText() },
    returns: SubscribedLabelJson,
    async run({ viewer, project, params, work }) {
      const subscribed = method === 'POST';
      const row = await requireLabel(work, {
        projectId: project.id,
        idOrTitle: params.label_id,
        userId: viewer.id,
      });
      if (row.subscribed === subscribed) return notModified();
      await subscribe(work, { userId: viewer.id, thing: { column: 'label_id', id: row.id }, subscribed });
      return presentSubscribedLabel({ ...row, subscribed });
    },
  });
}

async function requireLabel(
  work: Work,
  { projectId, idOrTitle, userId }: { projectId: number; idOrTitle: string; userId: number },
) {
  const row = await findLabel(work.em, { projectId, id: readId(idOrTitle), title: idOrTitle, userId });
  if (!row) throw notFound('Label');
  return row;
}
