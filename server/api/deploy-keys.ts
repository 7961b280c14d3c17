import { addDeployKey, disableDeployKey, enableDeployKey } from '../actions/deploy-keys.ts';
import { notFound } from '../errors.ts';
import { onProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { optional, pathId, text } from '../http/params.ts';
import { presentRemovedKey, presentSshKey, RemovedKeyJson, SshKeyJson } from '../present/ssh-key.ts';
import { findDeployKey, listDeployKeys } from '../queries/deploy-keys.ts';
import type { KeyRow } from '../queries/ssh-keys.ts';

/** Everything exists at two addresses: the first clients used `keys`, later ones `deploy_keys`. */
const folders = ['/projects/:id/keys', '/projects/:id/deploy_keys'];

function list(folder: string): Endpoint {
  return endpoint({
    method: 'GET',
    path: folder,
    summary: 'Deploy keys of the project',
    access: onProject('admin_project'),
    returns: SshKeyJson,
    list: true,
    async run({ project, page, work }) {
      return (await paginate<KeyRow>(work.em, listDeployKeys(project.id), page)).map(presentSshKey);
    },
  });
}

function get(folder: string): Endpoint {
  return endpoint({
    method: 'GET',
    path: `${folder}/:key_id`,
    summary: 'One deploy key of the project',
    access: onProject('admin_project'),
    params: { key_id: pathId() },
    returns: SshKeyJson,
    async run({ project, params, work }) {
      const row = await findDeployKey(work.em, project.id, params.key_id);
      if (!row) throw notFound();
      return presentSshKey(row);
    },
  });
}

function add(folder: string): Endpoint {
  return endpoint({
    method: 'POST',
    path: folder,
    summary: 'Adds a key that may read the project',
    access: onProject('admin_project'),
    params: { title: optional(text({ max: 255 })), key: optional(text()) },
    returns: SshKeyJson,
    async run({ viewer, project, params: { title, key }, work }) {
      const place = { viewer, projectId: project.id };
      return presentSshKey(await addDeployKey(work, place, { title, key }));
    },
  });
}

function remove(folder: string): Endpoint {
  return endpoint({
    method: 'DELETE',
    path: `${folder}/:key_id`,
    summary: 'Takes a deploy key from the project, and removes one that no other project uses',
    access: onProject('admin_project'),
    params: { key_id: pathId() },
    returns: RemovedKeyJson,
    async run({ project, params, work }) {
      const row = await disableDeployKey(work, project.id, params.key_id);
      if (!row) throw notFound();
      return presentRemovedKey(row);
    },
  });
}

function enable(folder: string): Endpoint {
  return endpoint({
    method: 'POST',
    path: `${folder}/:key_id/enable`,
    summary: 'Lets a deploy key of another project read this one too',
    access: onProject('admin_project'),
    params: { key_id: pathId() },
    returns: SshKeyJson,
    async run({ viewer, project, params, work }) {
      const place = { viewer, projectId: project.id };
      return presentSshKey(await enableDeployKey(work, place, params.key_id));
    },
  });
}

function disable(folder: string): Endpoint {
  return endpoint({
    method: 'DELETE',
    path: `${folder}/:key_id/disable`,
    summary: 'Takes a deploy key from the project',
    access: onProject('admin_project'),
    params: { key_id: pathId() },
    returns: SshKeyJson,
    async run({ project, params, work }) {
      const row = await disableDeployKey(work, project.id, params.key_id);
      if (!row) throw notFound('Deploy Key');
      return presentSshKey(row);
    },
  });
}

export const endpoints: Endpoint[] = [list, get, add, remove, enable, disable].flatMap((make) =>
  folders.map(make),
);
