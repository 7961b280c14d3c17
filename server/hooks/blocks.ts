import { sshUrl } from '../../shared/ssh-url.ts';
import { projectAvatar } from '../present/project-avatar.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

/** What messages say of their project. */
export interface HookProject {
  id: number;
  name: string;
  name_with_namespace: string;
  namespace: string;
  full_path: string;
  description: string | null;
  avatar: string | null;
  logo: string | null;
  visibility_level: number;
  default_branch: string | null;
}

/** @returns null for a project that is gone, or about to be. */
export function findHookProject(work: Work, projectId: number): Promise<HookProject | null> {
  return sqlOne<HookProject>(
    work.em,
    `select p.id, p.name, coalesce(o.name, n.name) || ' / ' || p.name as name_with_namespace,
       n.name as namespace, n.path || '/' || p.path as full_path, p.description, p.avatar, p.logo,
       p.visibility_level, p.default_branch
     from projects p join namespaces n on n.id = p.namespace_id left join users o on o.id = n.owner_id
     where p.id = $1 and not p.pending_delete`,
    [projectId],
  );
}

/** Where the project is, for people and for git. */
function places({ origin, sshPort }: Work, project: HookProject) {
  const web = `${origin}/${project.full_path}`;
  return { web, http: `${web}.git`, ssh: sshUrl(project.full_path, { origin, sshPort }) };
}

/** With the keys of older receivers at the end. */
export function projectBlock(work: Work, project: HookProject) {
  const { web, http, ssh } = places(work, project);
  return {
    name: project.name,
    description: project.description,
    web_url: web,
    avatar_url: projectAvatar(project, web),
    git_ssh_url: ssh,
    git_http_url: http,
    namespace: project.namespace,
    visibility_level: project.visibility_level,
    path_with_namespace: project.full_path,
    default_branch: project.default_branch,
    homepage: web,
    url: ssh,
    ssh_url: ssh,
    http_url: http,
  };
}

export function repositoryBlock(work: Work, project: HookProject) {
  const { web, http, ssh } = places(work, project);
  return {
    name: project.name,
    url: ssh,
    description: project.description,
    homepage: web,
    git_http_url: http,
    git_ssh_url: ssh,
    visibility_level: project.visibility_level,
  };
}
