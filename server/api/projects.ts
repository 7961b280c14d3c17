import { createProject } from '../actions/create-project.ts';
import { updateProject } from '../actions/update-project.ts';
import { notFound } from '../errors.ts';
import { onWholeProject, signedIn } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { flag, integer, looseChoice, optional, text } from '../http/params.ts';
import { can } from '../policy/project.ts';
import { ProjectJson, presentProject, presentProjectWithPermissions } from '../present/project.ts';
import { findProject, type ProjectRow } from '../queries/project-row.ts';
import { listOwnProjects, projectOrders } from '../queries/projects.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';

const filters = {
  archived: optional(flag()),
  visibility: looseChoice(['private', 'internal', 'public']),
  order_by: looseChoice(projectOrders),
  sort: looseChoice(['asc', 'desc']),
  search: optional(text({ max: 255 })),
};

const attributes = {
  path: optional(text({ max: 255 })),
  description: optional(text({ max: 2000 })),
  issues_enabled: optional(flag()),
  merge_requests_enabled: optional(flag()),
  builds_enabled: optional(flag()),
  wiki_enabled: optional(flag()),
  snippets_enabled: optional(flag()),
  public: optional(flag()),
  visibility_level: optional(integer()),
  public_builds: optional(flag()),
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

const postProject = endpoint({
  method: 'POST',
  path: '/projects',
  summary: 'Creates a project in the own namespace, or in that of a group',
  access: signedIn(),
  params: { name: text({ max: 1024 }), ...attributes, namespace_id: optional(integer()) },
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

const putProject = endpoint({
  method: 'PUT',
  path: '/projects/:id',
  summary: 'Changes the given attributes of a project',
  access: onWholeProject('admin_project'),
  params: {
    name: optional(text({ max: 1024 })),
    ...attributes,
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

export const endpoints: Endpoint[] = [listProjects, postProject, getProject, putProject];

interface Given {
  path?: string | undefined;
  description?: string | undefined;
  issues_enabled?: boolean | undefined;
  merge_requests_enabled?: boolean | undefined;
  builds_enabled?: boolean | undefined;
  wiki_enabled?: boolean | undefined;
  snippets_enabled?: boolean | undefined;
  public?: boolean | undefined;
  visibility_level?: number | undefined;
  public_builds?: boolean | undefined;
}

function changeOf(given: Given) {
  return {
    path: given.path,
    description: given.description,
    issuesEnabled: given.issues_enabled,
    mergeRequestsEnabled: given.merge_requests_enabled,
    buildsEnabled: given.builds_enabled,
    wikiEnabled: given.wiki_enabled,
    snippetsEnabled: given.snippets_enabled,
    isPublic: given.public,
    visibilityLevel: given.visibility_level,
    publicBuilds: given.public_builds,
  };
}

/** The project as it is after a change, with the token for its masters. */
async function presentChanged(work: Work, viewer: Viewer, id: number) {
  const row = await findProject(work.em, String(id), viewer);
  if (!row) throw notFound('Project');
  return { ...presentProject(row, addresses(work)), ...runnersToken(work, viewer, row) };
}

function runnersToken(work: Work, viewer: Viewer, row: ProjectRow): { runners_token?: string } {
  return can(viewer, row, 'admin_project')
    ? { runners_token: work.secrets.open(row.runners_token_sealed) }
    : {};
}

function addresses(work: Work) {
  return { origin: work.origin, ssh: work.sshAddress };
}
