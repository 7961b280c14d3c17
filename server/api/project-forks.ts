import { forkProject } from '../actions/fork-project.ts';
import { linkFork, unlinkFork } from '../actions/fork-relation.ts';
import { notFound } from '../errors.ts';
import { admin, onProject, onWholeProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { optional, pathId, pathText, text } from '../http/params.ts';
import { ProjectJson } from '../present/project.ts';
import { findProject } from '../queries/project-row.ts';
import { presentChanged } from './project-attributes.ts';

const postFork = endpoint({
  method: 'POST',
  path: '/projects/fork/:id',
  summary: 'Forks a project into the own namespace, or into another one',
  access: onWholeProject('fork_project'),
  params: { namespace: optional(text({ max: 255 })) },
  returns: ProjectJson,
  // Files are made before it is known that the project can be.
  transaction: false,
  async run({ viewer, project, params, work }) {
    const id = await forkProject(work, { viewer, source: project, namespace: params.namespace });
    return presentChanged(work, viewer, id);
  },
});

const postRelation = endpoint({
  method: 'POST',
  path: '/projects/:id/fork/:forked_from_id',
  summary: 'Makes a project the fork of another one',
  access: admin(),
  params: { id: pathText(), forked_from_id: pathId() },
  returns: ProjectJson,
  async run({ viewer, params, work }) {
    const project = await findProject(work.em, params.id, viewer);
    if (!project) throw notFound('Project');
    await linkFork(work, project.id, params.forked_from_id);
    return presentChanged(work, viewer, project.id);
  },
});

const deleteRelation = endpoint({
  method: 'DELETE',
  path: '/projects/:id/fork',
  summary: 'Makes a fork a project of its own',
  access: onProject('own_project'),
  returns: ProjectJson,
  async run({ viewer, project, work }) {
    await unlinkFork(work, project.id);
    return presentChanged(work, viewer, project.id);
  },
});

export const endpoints: Endpoint[] = [postFork, postRelation, deleteRelation];
