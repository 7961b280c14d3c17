import { createProject } from '../actions/create-project.ts';
import { signedIn } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { integer, optional, text } from '../http/params.ts';
import { ProjectJson } from '../present/project.ts';
import { changeOf, presentChanged, projectAttributes } from './project-attributes.ts';

const postProject = endpoint({
  method: 'POST',
  path: '/projects',
  summary: 'Creates a project in the own namespace, or in that of a group',
  access: signedIn(),
  params: { name: text({ max: 1024 }), ...projectAttributes, namespace_id: optional(integer()) },
  returns: ProjectJson,
  async run({ viewer, params, work }) {
    const id = await createProject(work, viewer, {
      ...changeOf(params),
      name: params.name,
      namespaceId: params.namespace_id,
    });
    return presentChanged(work, viewer, id);
  },
});

export const endpoints: Endpoint[] = [postProject];
