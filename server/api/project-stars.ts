import { starProject, unstarProject } from '../actions/star-project.ts';
import { onProject } from '../http/access.ts';
import { notModified } from '../http/answers.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { ProjectJson } from '../present/project.ts';
import { presentPlainly } from './project-attributes.ts';

const star = endpoint({
  method: 'POST',
  path: '/projects/:id/star',
  summary: 'Stars a project; 304 when the caller had starred it before',
  access: onProject('star_project'),
  returns: ProjectJson,
  async run({ viewer, project, work }) {
    const isChanged = await starProject(work, { projectId: project.id, userId: viewer.id });
    return isChanged ? presentPlainly(work, viewer, project.id) : notModified();
  },
});

const unstar = endpoint({
  method: 'DELETE',
  path: '/projects/:id/star',
  summary: 'Takes the star of the caller back; 304 when there was none',
  access: onProject('star_project'),
  returns: ProjectJson,
  async run({ viewer, project, work }) {
    const isChanged = await unstarProject(work, { projectId: project.id, userId: viewer.id });
    return isChanged ? presentPlainly(work, viewer, project.id) : notModified();
  },
});

export const endpoints: Endpoint[] = [star, unstar];
