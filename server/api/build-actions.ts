import { cancelBuild } from '../actions/cancel-build.ts';
import { eraseBuild } from '../actions/erase-build.ts';
import { keepArtifacts } from '../actions/expire-artifacts.ts';
import { playJob } from '../actions/play-job.ts';
import { retryBuild } from '../actions/retry-build.ts';
import { nothingHere } from '../errors.ts';
import { onBuild, onProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { pathId } from '../http/params.ts';
import { BuildJson, ErasedBuildJson, presentBuild, presentErasedBuild } from '../present/build.ts';
import { requireBuild } from './builds.ts';

const cancel = endpoint({
  method: 'POST',
  path: '/projects/:id/builds/:build_id/cancel',
  summary: 'Cancels a pending or running build',
  access: onBuild('update_build'),
  params: { build_id: pathId() },
  returns: BuildJson,
  async run({ project, build, work }) {
    await cancelBuild(work, build);
    return presentBuild(await requireBuild(work, project.id, build.id), work.origin);
  },
});

const retry = endpoint({
  method: 'POST',
  path: '/projects/:id/builds/:build_id/retry',
  summary: 'Runs the job of a finished build again, as a new build',
  access: onBuild('update_build'),
  params: { build_id: pathId() },
  returns: BuildJson,
  async run({ viewer, project, build, work }) {
    const id = await retryBuild(work, build, viewer.id);
    return presentBuild(await requireBuild(work, project.id, id), work.origin);
  },
});

const erase = endpoint({
  method: 'POST',
  path: '/projects/:id/builds/:build_id/erase',
  summary: 'Removes trace and artifacts of a finished build',
  access: onBuild('update_build'),
  params: { build_id: pathId() },
  returns: ErasedBuildJson,
  async run({ viewer, project, build, work }) {
    await eraseBuild(work, build, viewer.id);
    return presentErasedBuild(await requireBuild(work, project.id, build.id), work.origin);
  },
});

const keep = endpoint({
  method: 'POST',
  path: '/projects/:id/builds/:build_id/artifacts/keep',
  summary: 'Keeps the artifacts of a build for good',
  access: onBuild('update_build'),
  params: { build_id: pathId() },
  status: 200,
  returns: BuildJson,
  async run({ build, work }) {
    if (build.artifacts_key === null) throw nothingHere();
    await keepArtifacts(work, build.id);
    return presentBuild(build, work.origin);
  },
});

const play = endpoint({
  method: 'POST',
  path: '/projects/:id/builds/:build_id/play',
  summary: 'Starts a job that waits to be started by hand',
  access: onProject('update_build'),
  params: { build_id: pathId() },
  // Nothing is made that was not announced under this id; clients insist on it.
  status: 200,
  returns: BuildJson,
  async run({ viewer, project, params, work }) {
    await playJob(work, { projectId: project.id, buildId: params.build_id, userId: viewer.id });
    return presentBuild(await requireBuild(work, project.id, params.build_id), work.origin);
  },
});

export const endpoints: Endpoint[] = [cancel, retry, erase, keep, play];
