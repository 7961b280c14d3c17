import { Readable } from 'node:stream';
import type { CiJob } from '../../server/ci/config.ts';
import type { TestApp } from '../support/app.ts';
import type { MadeBuild, MadeProject, MadeRunner, MadeUser } from '../support/make.ts';

/** A fork in the namespace of its owner, that belongs to a group project, with members of every kind. */
export async function fullProject(
  app: TestApp,
): Promise<MadeProject & { groupMember: MadeUser; groupId: number }> {
  const { make } = app;
  const source = await make.project({ visibility: 'public' });
  const project = await make.project({ columns: { forked_from_id: source.id } });
  await app.rows('insert into project_members (project_id, user_id, access_level) values ($1, $2, 40)', [
    project.id,
    project.owner.id,
  ]);
  const groupId = await make.group();
  await app.rows("update namespaces set avatar = 'http://example.com/a.png' where id = $1", [groupId]);
  const groupMember = await make.user();
  await make.groupMember(groupId, groupMember, 'master');
  await make.project({ namespaceId: groupId });
  return { ...project, groupMember, groupId };
}

const fullJob: Partial<CiJob> = {
  name: 'pack',
  stage: 'deploy',
  stageIndex: 2,
  image: 'node:20',
  services: ['postgres:16'],
  variables: { A: 'b' },
  afterScript: ['true'],
  dependencies: ['compile'],
  artifacts: { name: 'x', untracked: true, paths: ['out'], when: 'always', expire_in: '1 week' },
  cache: { key: 'k', untracked: true, paths: ['cache'] },
};

/** A finished build with all that a build can have, and a waiting one after it for its runner. */
export async function fullBuild(
  app: TestApp,
): Promise<MadeBuild & { project: MadeProject; runner: MadeRunner }> {
  const { make } = app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project] });
  const key = `artifacts/full-${project.id}.zip`;
  const { size } = await app.services.storage.put(key, Readable.from(['zip']));
  const build = await make.build(project, {
    status: 'success',
    runner,
    job: { name: 'compile' },
    columns: {
      user_id: project.owner.id,
      artifacts_key: key,
      artifacts_filename: 'a.zip',
      artifacts_size: size,
    },
  });
  await make.build(project, {
    pipelineId: build.pipelineId,
    job: fullJob,
    columns: { user_id: project.owner.id },
  });
  return { ...build, project, runner };
}
