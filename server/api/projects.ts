import { updateProject } from '../actions/update-project.ts';
import { onWholeProject, signedIn } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { flag, looseChoice, optional, text } from '../http/params.ts';
import { ProjectJson, presentProjectWithPermissions } from '../present/project.ts';
import type { ProjectRow } from '../queries/project-row.ts';
import { listOwnProjects, projectOrders } from '../queries/projects.ts';
import {
  addresses,
  changeOf,
  presentChanged,
  projectAttributes,
  runnersToken,
} from './project-attributes.ts';

const filters = {
  archived: optional(flag()),
  visibility: looseChoice(['private', 'internal', 'public']),
  order_by: looseChoice(projectOrders),
  sort: looseChoice(['asc', 'desc']),
  search: optional(text({ max: 255 })),
};

const listProjects = endpoint({
  method: 'GET',
  path: '/projects',
  summary: 'Projects that the caller takes part in',
  access: signedIn(),
  params: filters,
  returns: ProjectJson,
  list: true,
  async run({ viewer, params, page, work }) {
    const projects = await paginate<ProjectRow>(work.em, listOwnProjects(viewer, params), page);
    return projects.map((row) => presentProjectWithPermissions(row, addresses(work)));
  },
});

const getProject = endpoint({
  method: 'GET',
  path: '/projects/:id',
  summary: 'One project, by id or by its encoded path',
  access: onWholeProject('read_project'),
  returns: ProjectJson,
  async run({ viewer, project, work }) {
    return {
      ...presentProjectWithPermissions(project, addresses(work)),
      ...runnersToken(work, viewer, project),
    };
  },
});

const putProject = endpoint({
  method: 'PUT',
  path: '/projects/:id',
  summary: 'Changes the given attributes of a project',
  access: onWholeProject('admin_project'),
  params: {
    name: optional(text({ max: 1024 })),
    ...projectAttributes,
    default_branch: optional(text({ max: 255 })),
    shared_runners_enabled: optional(flag()),
    build_coverage_regex: optional(text({ max: 1024 })),
  },
  returns: ProjectJson,
  async run({ viewer, project, params, work }) {
    await updateProject(work, {
      viewer,
      row: project,
      change: {
        ...changeOf(params),
        name: params.name,
        defaultBranch: params.default_branch,
        sharedRunnersEnabled: params.shared_runners_enabled,
        buildCoverageRegex: params.build_coverage_regex,
      },
    });
    return presentChanged(work, viewer, project.id);
  },
});

export const endpoints: Endpoint[] = [listProjects, getProject, putProject];
