import { setArchived } from '../actions/archive-project.ts';
import { onProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { ProjectJson } from '../present/project.ts';
import { presentPlainly } from './project-attributes.ts';

const archive = endpoint({
  method: 'POST',
  path: '/projects/:id/archive',
  summary: 'Makes a project read-only',
  access: onProject('own_project'),
  returns: ProjectJson,
  async run({ viewer, project, work }) {
    await setArchived(work, project.id, true);
    return presentPlainly(work, viewer, project.id);
  },
});

const unarchive = endpoint({
  method: 'POST',
  path: '/projects/:id/unarchive',
  summary: 'Makes an archived project writable again',
  access: onProject('own_project'),
  returns: ProjectJson,
  async run({ viewer, project, work }) {
    await setArchived(work, project.id, false);
    return presentPlainly(work, viewer, project.id);
  },
});

export const endpoints: Endpoint[] = [archive, unarchive];
