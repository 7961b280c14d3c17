import { dirname, join } from 'node:path';
import type { Registration } from './config.ts';
import { shortToken } from './executors.ts';

export interface BuildPathRequest {
  registration: Registration;
  configPath: string;
  build: { id: number; project_id: number; repo_url: string };
  projectSlot: number;
}

export interface BuildPaths {
  project: string;
  cache: string;
  temporary: string;
}

/** Where a build of this registration works on this host. */
export function buildPaths({ registration, configPath, build, projectSlot }: BuildPathRequest): BuildPaths {
  const home = dirname(configPath);
  const builds = join(registration.builds_dir ?? join(home, 'builds'), shortToken(registration.token));
  const caches = join(registration.cache_dir ?? join(home, 'cache'), shortToken(registration.token));
  return {
    project: join(builds, String(projectSlot), ...projectPath(build)),
    cache: join(caches, `project-${build.project_id}`),
    temporary: join(builds, 'tmp', String(build.id)),
  };
}

/** Group and project of the clone URL, as far as they can be directories. */
function projectPath(build: BuildPathRequest['build']): string[] {
  const path = URL.canParse(build.repo_url) ? new URL(build.repo_url).pathname : '';
  const parts = path
    .replace(/\.git\/?$/, '')
    .split('/')
    .filter((part) => part !== '');
  const isUsable = /^https?:/.test(build.repo_url) && parts.length > 0 && parts.length < 20;
  if (!isUsable || parts.some((part) => !/^[\w.+-]+$/.test(part) || part.startsWith('.'))) {
    return [`project-${build.project_id}`];
  }
  return parts;
}
