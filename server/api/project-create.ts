import { createProject } from '../actions/create-project.ts';
import { notFound } from '../errors.ts';
import { admin, signedIn } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { integer, optional, pathId, text } from '../http/params.ts';
import { ProjectJson } from '../present/project.ts';
import { userById } from '../queries/user-row.ts';
import { changeOf, presentChanged, projectAttributes } from './project-attributes.ts';

const importUrl = optional(text({ max: 2048 }));

const postProject = endpoint({
  method: 'POST',
  path: '/projects',
  summary: 'Creates a project in the own namespace, or in that of a group',
  access: signedIn(),
  params: {
    name: text({ max: 1024 }),
    ...projectAttributes,
    namespace_id: optional(integer()),
    import_url: importUrl,
  },
  returns: ProjectJson,
  async run({ viewer, params, work }) {
    const id = await createProject(work, viewer, {
      ...changeOf(params),
      name: params.name,
      namespaceId: params.namespace_id,
      importUrl: params.import_url,
    });
    return presentChanged(work, viewer, id);
  },
});

const { path: _, ...attributesForUser } = projectAttributes;

const postProjectForUser = endpoint({
  method: 'POST',
  path: '/projects/user/:user_id',
  summary: 'Creates a project in the namespace of a user',
  access: admin(),
  params: {
    user_id: pathId(),
    name: optional(text({ max: 1024 })),
    ...attributesForUser,
    import_url: importUrl,
  },
  returns: ProjectJson,
  async run({ viewer, params, work }) {
    const user = await userById(work.em, params.user_id);
    if (!user) throw notFound('User');
    const id = await createProject(work, viewer, {
      ...changeOf(params),
      // Without one, the answer is what is wrong with a blank one.
      name: params.name ?? '',
      creatorId: user.id,
      importUrl: params.import_url,
    });
    return presentChanged(work, viewer, id);
  },
});

export const endpoints: Endpoint[] = [postProject, postProjectForUser];
