import type { BuildPayload } from '../../shared/protocol/build.ts';

let counter = 0;

/** A build as a server hands it out, with what the test does not care about filled in. */
export function makePayload(overrides: Partial<BuildPayload> = {}): BuildPayload {
  counter += 1;
  const id = overrides.id ?? 1000 + counter;
  return {
    id,
    project_id: 5,
    project_name: 'hello',
    token: `build-token-${id}`,
    status: 'running',
    name: 'test',
    stage: 'test',
    ref: 'main',
    tag: false,
    sha: 'a'.repeat(40),
    before_sha: '0'.repeat(40),
    repo_url: 'http://gitlab-ci-token:secret-build-token@127.0.0.1:1/group/hello.git',
    commands: 'true',
    allow_git_fetch: true,
    timeout: 60,
    options: {},
    variables: [],
    depends_on_builds: [],
    ...overrides,
  };
}
