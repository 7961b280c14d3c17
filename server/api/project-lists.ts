import { admin, signedIn } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { flag, looseChoice, optional, pathText, text } from '../http/params.ts';
import { ProjectJson, presentProject, presentProjectWithPermissions } from '../present/project.ts';
import type { ProjectRow } from '../queries/project-row.ts';
import {
  listAllProjects,
  listOwnedProjects,
  listOwnProjects,
  listStarredProjects,
  projectOrders,
  searchProjects,
} from '../queries/projects.ts';
import { addresses } from './project-attributes.ts';

const order = { order_by: looseChoice(projectOrders), sort: looseChoice(['asc', 'desc']) };

/** What every list of projects can be narrowed and ordered by. */
export const projectFilters = {
  archived: optional(flag()),
  visibility: looseChoice(['private', 'internal', 'public']),
  ...order,
  search: optional(text({ max: 255 })),
};

const listOwn = endpoint({
  method: 'GET',
  path: '/projects',
  summary: 'Projects that the caller takes part in',
  access: signedIn(),
  params: projectFilters,
  returns: ProjectJson,
  list: true,
  async run({ viewer, params, page, work }) {
    const projects = await paginate<ProjectRow>(work.em, listOwnProjects(viewer, params), page);
    return projects.map((row) => presentProjectWithPermissions(row, addresses(work)));
  },
});

const listOwned = endpoint({
  method: 'GET',
  path: '/projects/owned',
  summary: 'Projects of the caller and of the groups that he owns',
  access: signedIn(),
  params: projectFilters,
  returns: ProjectJson,
  list: true,
  async run({ viewer, params, page, work }) {
    const projects = await paginate<ProjectRow>(work.em, listOwnedProjects(viewer, params), page);
    return projects.map((row) => presentProjectWithPermissions(row, addresses(work)));
  },
});

const listStarred = endpoint({
  method: 'GET',
  path: '/projects/starred',
  summary: 'Projects that the caller has starred',
  access: signedIn(),
  params: projectFilters,
  returns: ProjectJson,
  list: true,
  async run({ viewer, params, page, work }) {
    const projects = await paginate<ProjectRow>(work.em, listStarredProjects(viewer, params), page);
    return projects.map((row) => presentProject(row, addresses(work)));
  },
});

const listAll = endpoint({
  method: 'GET',
  path: '/projects/all',
  summary: 'Every project',
  access: admin(),
  params: projectFilters,
  returns: ProjectJson,
  list: true,
  async run({ viewer, params, page, work }) {
    const projects = await paginate<ProjectRow>(work.em, listAllProjects(viewer, params), page);
    return projects.map((row) => presentProjectWithPermissions(row, addresses(work)));
  },
});

const search = endpoint({
  method: 'GET',
  path: '/projects/search/:query',
  summary: 'Projects that the caller takes part in or anybody may see, by part of their name',
  access: signedIn(),
  params: { query: pathText(), ...order },
  returns: ProjectJson,
  list: true,
  async run({ viewer, params, page, work }) {
    const found = searchProjects(viewer, params.query, params);
    const projects = await paginate<ProjectRow>(work.em, found, page);
    return projects.map((row) => presentProject(row, addresses(work)));
  },
});

/** Before those of one project, whose paths would take these for theirs. */
export const endpoints: Endpoint[] = [listOwn, listOwned, listStarred, listAll, search];
