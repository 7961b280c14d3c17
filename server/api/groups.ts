import { createGroup } from '../actions/create-group.ts';
import { removeGroup } from '../actions/remove-group.ts';
import { transferProject } from '../actions/transfer-project.ts';
import { updateGroup } from '../actions/update-group.ts';
import { notFound } from '../errors.ts';
import { admin, signedIn } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { groupMaker, onGroup } from '../http/group-access.ts';
import { paginate } from '../http/paginate.ts';
import { flag, integer, optional, pathText, text } from '../http/params.ts';
import { GroupDetailJson, GroupJson, presentGroup } from '../present/group.ts';
import { ProjectJson, presentProject } from '../present/project.ts';
import { findGroup, type GroupRow, type GroupScope } from '../queries/group-row.ts';
import { listGroups } from '../queries/groups.ts';
import { findProject, type ProjectRow } from '../queries/project-row.ts';
import { listGroupProjects } from '../queries/projects.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { addresses } from './project-attributes.ts';
import { projectFilters } from './project-lists.ts';

/** So many of its projects a group shows with itself; the list has all. */
const shownProjects = 1000;

/** Long texts are refused together with the other faults. */
const words = {
  name: text({ max: 1024 }),
  path: text({ max: 1024 }),
  description: optional(text({ max: 10_000 })),
  visibility_level: optional(integer()),
  /** Keeps projects of the group from being shared with other groups. */
  share_with_group_lock: optional(flag()),
};

const list = endpoint({
  method: 'GET',
  path: '/groups',
  summary: 'Groups that the caller is a member of; all for administrators',
  access: signedIn(),
  params: { search: optional(text({ max: 255 })) },
  returns: GroupJson,
  list: true,
  async run({ viewer, params, page, work }) {
    const groups = await paginate<GroupRow>(work.em, listGroups(viewer, params.search), page);
    return groups.map((group) => presentGroup(group, work.origin));
  },
});

const get = endpoint({
  method: 'GET',
  path: '/groups/:id',
  summary: `One group, by id or path, with the newest of its projects, at most ${shownProjects}`,
  access: onGroup('read_group'),
  returns: GroupDetailJson,
  run: ({ viewer, group, work }) => presentDetail(work, inGroup(viewer, group), group),
});

const create = endpoint({
  method: 'POST',
  path: '/groups',
  summary: 'Creates a group that the caller owns',
  access: groupMaker(),
  params: words,
  returns: GroupJson,
  async run({ viewer, params, work }) {
    const id = await createGroup(work, viewer, groupOf(params));
    return presentGroup(await requireGroup(work, String(id)), work.origin);
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/groups/:id',
  summary: 'Changes the given attributes of a group',
  access: onGroup('admin_group'),
  params: { ...words, name: optional(words.name), path: optional(words.path) },
  returns: GroupDetailJson,
  async run({ viewer, group, params, work }) {
    await updateGroup(work, { viewer, id: group.id, change: groupOf(params) });
    return presentDetail(work, inGroup(viewer, group), await requireGroup(work, String(group.id)));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/groups/:id',
  summary: 'Removes a group with all its projects',
  access: onGroup('admin_group'),
  returns: GroupJson,
  async run({ group, work }) {
    await removeGroup(work, group.id);
    return presentGroup(group, work.origin);
  },
});

const projects = endpoint({
  method: 'GET',
  path: '/groups/:id/projects',
  summary: 'Projects of a group that the caller sees',
  access: onGroup('read_group'),
  params: {
    ...projectFilters,
    /** Has no effect. */
    ci_enabled_first: optional(flag()),
  },
  returns: ProjectJson,
  list: true,
  async run({ viewer, group, params, page, work }) {
    const query = listGroupProjects(inGroup(viewer, group), group.id, params);
    const rows = await paginate<ProjectRow>(work.em, query, page);
    return rows.map((row) => presentProject(row, addresses(work)));
  },
});

const transfer = endpoint({
  method: 'POST',
  path: '/groups/:id/projects/:project_id',
  summary: 'Moves a project into a group',
  access: admin(),
  params: { id: pathText(), project_id: pathText() },
  returns: GroupJson,
  async run({ viewer, params, suffix, work }) {
    const group = await requireGroup(work, params.id);
    const whole = suffix === '' ? null : await findProject(work.em, params.project_id + suffix, viewer);
    const project = whole ? String(whole.id) : params.project_id;
    await transferProject(work, { viewer, group, project });
    return presentGroup(group, work.origin);
  },
});

export const endpoints: Endpoint[] = [list, get, create, update, remove, projects, transfer];

async function requireGroup(work: Work, idOrPath: string): Promise<GroupRow> {
  const group = await findGroup(work.em, idOrPath);
  if (!group) throw notFound('Group');
  return group;
}

/** Members see all projects of their group, so that nobody has to look which. */
function inGroup(viewer: Viewer, { viewer_level }: GroupScope): Viewer {
  return viewer_level > 0 ? { ...viewer, is_admin: true } : viewer;
}

async function presentDetail(work: Work, viewer: Viewer, group: GroupRow) {
  const query = listGroupProjects(viewer, group.id, { order_by: 'id', sort: 'desc' });
  const { items } = await paginate<ProjectRow>(work.em, query, { page: 1, perPage: shownProjects });
  const shown = items.map((row) => presentProject(row, addresses(work)));
  return { ...presentGroup(group, work.origin), projects: shown };
}

interface GivenWords {
  visibility_level?: number | undefined;
  share_with_group_lock?: boolean | undefined;
}

/** What was given in the words of the actions. */
function groupOf<G extends GivenWords>(given: G) {
  const { visibility_level: visibilityLevel, share_with_group_lock: shareLock, ...called } = given;
  return { ...called, visibilityLevel, shareLock };
}
