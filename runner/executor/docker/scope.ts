import { createHash, randomBytes } from 'node:crypto';
import type { BuildPayload } from '../../../shared/protocol/build.ts';
import type { DockerOptions } from '../docker-options.ts';
import type { PrepareRequest } from '../executor.ts';
import type { Engine } from './engine.ts';

/** What everything made for one build has in common. */
export interface BuildScope {
  engine: Engine;
  options: DockerOptions;
  runnerId: string;
  request: PrepareRequest;
  /** Directory of the sources inside the containers. */
  projectDir: string;
  /** Holds `/builds`. Unique, so that no leftover of a crashed build is ever taken for it. */
  volumeName: string;
}

/** Mount point of the volume of a build. */
export const buildsDir = '/builds';

export function buildScope(parts: Omit<BuildScope, 'projectDir' | 'volumeName'>): BuildScope {
  return {
    ...parts,
    projectDir: projectDirOf(parts.request.build),
    volumeName: `${objectName(parts.request.slotName, 'builds')}-${randomBytes(4).toString('hex')}`,
  };
}

/** Name of a container of a slot; with a suffix, of what may exist more than once. */
export function objectName(slotName: string, role: string): string {
  return `hearth-${slotName.replace(/[^a-zA-Z0-9_.-]/g, '-')}-${role}`;
}

/** Labels by which people and the clean-up recognise what belongs to a build. */
export function scopeLabels({ runnerId, request }: BuildScope, role: string): Record<string, string> {
  const { build } = request;
  return {
    'hearth.runner': runnerId,
    'hearth.role': role,
    'hearth.slot': request.slotName,
    'hearth.build': String(build.id),
    'hearth.project': String(build.project_id),
    'hearth.ref': build.ref,
    'hearth.sha': build.sha,
  };
}

/** Name of a volume that outlives builds: one per runner, project, slot and path. */
export function persistentVolumeName({ runnerId, request }: BuildScope, path: string): string {
  const key = [runnerId, request.build.project_id, request.slotName, path].join('\n');
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 16);
  return `hearth-cache-${request.build.project_id}-${hash}`;
}

/** `/builds/<namespace>/<project>` after the clone address, else a directory named after the project's id. */
export function projectDirOf(build: Pick<BuildPayload, 'repo_url' | 'project_id'>): string {
  const segments = URL.canParse(build.repo_url) ? new URL(build.repo_url).pathname.split('/') : [];
  const [namespace = '', project = ''] = segments.filter(Boolean).slice(-2);
  const path = [namespace, project.replace(/\.git$/, '')];
  const isSafe = path.every((segment) => /^[A-Za-z0-9_.-]+$/.test(segment) && !/^\.+$/.test(segment));
  return isSafe ? `${buildsDir}/${path.join('/')}` : `${buildsDir}/project-${build.project_id}`;
}
