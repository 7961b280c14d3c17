import { z } from 'zod';
import { removeProjects } from '../actions/remove-projects.ts';
import { updateProject } from '../actions/update-project.ts';
import { onProject, onWholeProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { flag, optional, text } from '../http/params.ts';
import { can } from '../policy/project.ts';
import { ProjectJson, presentProjectWithPermissions } from '../present/project.ts';
import type { ProjectRow } from '../queries/project-row.ts';
import type { Viewer } from '../queries/viewer.ts';
import {
  addresses,
  changeOf,
  presentChanged,
  projectAttributes,
  runnersToken,
} from './project-attributes.ts';

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
      ...importState(viewer, project),
    };
  },
});

/** Why it failed may name what only its masters know. */
function importState(viewer: Viewer, project: ProjectRow) {
  const { import_status, import_error } = project;
  return can(viewer, project, 'admin_project') ? { import_status, import_error } : { import_status };
}

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

const deleteProject = endpoint({
  method: 'DELETE',
  path: '/projects/:id',
  summary: 'Removes a project: nobody sees it from then on, and what is its own goes in the background',
  access: onProject('own_project'),
  returns: z.literal(true),
  async run({ project, work }) {
    await removeProjects(work, [project.id]);
    return true as const;
  },
});

export const endpoints: Endpoint[] = [getProject, putProject, deleteProject];
