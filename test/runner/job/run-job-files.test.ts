import test, { type ExecutionContext } from 'ava';
import { hang, type Script } from '../../../runner/executor/scripted.ts';
import { partContent, reply } from '../../support/fake-ci-server.ts';
import { files } from '../../support/file-entries.ts';
import { lastLine, type ScriptedJob, scriptedJob } from '../../support/scripted-job.ts';

test('artifacts are uploaded with the expanded name and the time they are kept', async (t) => {
  const { run, server, build } = await scriptedJob(
    t,
    { exportFiles: () => files(['out/a.txt', 'A'], ['other', 'no']) },
    { options: { artifacts: { paths: ['out'], name: '$CI_BUILD_NAME', expire_in: '7 days' } } },
  );
  t.is((await run()).kind, 'success');
  const [upload] = server.requests('POST', /artifacts/);
  t.is(upload?.path, `/builds/${build.payload.id}/artifacts?expire_in=7+days`);
  t.is(upload?.headers['transfer-encoding'], 'chunked');
  t.is(upload?.headers['build-token'], build.payload.token);
  t.true(upload?.body.includes('filename="test.zip"'));
  const zip = partContent(build.upload ?? Buffer.alloc(0));
  t.true(zip.includes('out/a.txt'));
  t.false(zip.includes('other'));
});

test('without a matching file nothing is uploaded, and that is said', async (t) => {
  const { run, server, trace } = await scriptedJob(t, {}, { options: { artifacts: { paths: ['out'] } } });
  t.is((await run()).kind, 'success');
  t.is(server.requests('POST', /artifacts/).length, 0);
  t.true(trace().includes('No files to upload'));
});

test('untracked takes what the commit does not hold', async (t) => {
  const { run, build } = await scriptedJob(
    t,
    { exportFiles: () => files(['a.txt', 'tracked'], ['new.txt', 'N'], ['.git/config', 'secret']) },
    { options: { artifacts: { untracked: true } } },
  );
  await run();
  const zip = partContent(build.upload ?? Buffer.alloc(0));
  t.true(zip.includes('new.txt'));
  t.false(zip.includes('a.txt'));
  t.false(zip.includes('.git'));
});

test('a failed upload fails a job that had succeeded', async (t) => {
  const { run, server, build, trace } = await scriptedJob(
    t,
    { exportFiles: () => files(['out', 'A']) },
    { options: { artifacts: { paths: ['out'] } } },
  );
  server.intercept = (request, response) => {
    if (!request.path.includes('artifacts')) return false;
    reply(response, 413, { message: '413 Request Entity Too Large' });
    return true;
  };
  t.like(await run(), { kind: 'system_failure', during: 'upload' });
  t.is(build.status, 'failed');
  t.true(lastLine(trace()).includes('413'));
  t.is(server.requests('POST', /artifacts/).length, 1);
});

test('a failed upload does not hide the exit code of a failed job', async (t) => {
  const { run, server, trace } = await scriptedJob(
    t,
    { exportFiles: () => files(['out', 'A']), run: async () => ({ exitCode: 4 }) },
    { options: { artifacts: { paths: ['out'], when: 'always' } } },
  );
  server.intercept = (request, response) => {
    if (!request.path.includes('artifacts')) return false;
    reply(response, 403);
    return true;
  };
  await run();
  t.is(lastLine(trace()), 'ERROR: Job failed: exit code 4');
});

for (const [when, exitCode, isUploaded] of [
  [undefined, 0, true],
  [undefined, 1, false],
  ['on_success', 1, false],
  ['on_failure', 0, false],
  ['on_failure', 1, true],
  ['always', 0, true],
  ['always', 1, true],
] as const) {
  test(`artifacts with when=${when} after exit code ${exitCode}`, async (t) => {
    const { run, build, trace } = await scriptedJob(
      t,
      { exportFiles: () => files(['out', 'A']), run: async () => ({ exitCode }) },
      { options: { artifacts: { paths: ['out'], ...(when ? { when } : {}) } } },
    );
    await run();
    t.is(build.upload !== null, isUploaded);
    t.is(build.status, exitCode === 0 ? 'success' : 'failed');
    const section = `upload_artifacts_on_${exitCode === 0 ? 'success' : 'failure'}`;
    t.is(trace().includes(section), isUploaded);
  });
}

test('artifacts of a script that took too long are those of a failed one', async (t) => {
  const { run, build } = await scriptedJob(
    t,
    { exportFiles: () => files(['out', 'A']), run: hang },
    {
      options: { artifacts: { paths: ['out'], when: 'on_failure' } },
      variables: [{ key: 'RUNNER_SCRIPT_TIMEOUT', value: '1s', public: true }],
    },
  );
  t.is((await run()).kind, 'timed_out');
  t.not(build.upload, null);
});

test('an upload waits for a server that is away, and the build succeeds', async (t) => {
  const { run, server, build } = await scriptedJob(
    t,
    { exportFiles: () => files(['out', 'A']) },
    { options: { artifacts: { paths: ['out'] } } },
  );
  server.intercept = (request, response) => {
    const isAway = server.requests('POST', /artifacts/).length < 6;
    if (!isAway || !request.path.includes('artifacts')) return false;
    reply(response, 502);
    return true;
  };
  t.is((await run()).kind, 'success');
  t.is(build.status, 'success');
  t.not(build.upload, null);
});

async function dependency(t: ExecutionContext, script: Script, names?: string[]): Promise<ScriptedJob> {
  const { build: source, run } = await scriptedJob(
    t,
    { exportFiles: () => files(['out/a.txt', 'A']) },
    { options: { artifacts: { paths: ['out'] } } },
  );
  await run();
  const other = {
    id: 77,
    token: 'other-token',
    name: 'compile',
    stage: 'build',
    ref: 'main',
    sha: 'a'.repeat(40),
    tag: false,
    status: 'success' as const,
    project_id: 5,
    project_name: 'hello',
    artifacts_file: { filename: 'artifacts.zip', size: 1 },
  };
  const setup = await scriptedJob(t, script, {
    depends_on_builds: [other, { ...other, id: 78, name: 'none', artifacts_file: undefined }],
    options: names ? { dependencies: names } : {},
  });
  setup.server.archives.set(77, partContent(source.upload ?? Buffer.alloc(0)));
  return setup;
}

test('artifacts of earlier builds are there before the script', async (t) => {
  const imported: string[] = [];
  const { run, calls, server } = await dependency(t, {
    importFiles: async (entries) => {
      for await (const entry of entries) imported.push(entry.path);
    },
  });
  t.is((await run()).kind, 'success');
  t.deepEqual(imported, ['out/a.txt']);
  t.deepEqual(calls, ['prepare', 'importSources', 'importFiles', 'run:script', 'cleanUp']);
  t.is(server.requests('GET', /artifacts/)[0]?.headers['build-token'], 'other-token');
});

test('a job may take the artifacts of some builds only, or of none', async (t) => {
  for (const names of [[], ['another']]) {
    const { run, calls } = await dependency(t, {}, names);
    await run();
    t.false(calls.includes('importFiles'));
  }
});

test('artifacts that are gone fail the build at once', async (t) => {
  const { run, server, trace } = await dependency(t, {});
  server.archives.clear();
  t.like(await run(), { kind: 'system_failure', during: 'artifacts' });
  t.is(server.requests('GET', /artifacts/).length, 1);
  t.true(lastLine(trace()).includes('artifacts of compile (77)'));
});

for (const [value, tries, warning] of [
  ['3', 3, null],
  ['10', 10, null],
  ['0', 1, 'ARTIFACT_DOWNLOAD_ATTEMPTS must be a whole number from 1 to 10, not "0"; 1 is taken'],
  ['11', 1, 'ARTIFACT_DOWNLOAD_ATTEMPTS must be a whole number from 1 to 10, not "11"; 1 is taken'],
] as const) {
  test(`ARTIFACT_DOWNLOAD_ATTEMPTS=${value} tries ${tries} times`, async (t) => {
    const { run, server, build, trace } = await dependency(t, {});
    build.payload.variables = [{ key: 'ARTIFACT_DOWNLOAD_ATTEMPTS', value, public: true }];
    server.archives.clear();
    t.like(await run(), { kind: 'system_failure', during: 'artifacts' });
    t.is(server.requests('GET', /artifacts/).length, tries);
    t.is(trace().split('trying again').length, tries);
    if (warning) t.true(trace().includes(warning));
  });
}

test('an archive that leads out of the project fails the build', async (t) => {
  const { run, server, trace } = await dependency(t, {
    importFiles: async (entries) => {
      for await (const entry of entries) entry.content?.destroy();
    },
  });
  const archive = server.archives.get(77)?.toString('latin1').replaceAll('out/a.txt', '../../a.t');
  server.archives.set(77, Buffer.from(archive ?? '', 'latin1'));
  t.like(await run(), { kind: 'system_failure', during: 'artifacts' });
  t.true(lastLine(trace()).includes('artifacts of compile (77)'));
});

test('the steps of a build are sections of its trace, in order, with the cache before the artifacts', async (t) => {
  const { run, build, trace } = await dependency(t, { exportFiles: () => files(['out', 'A']) });
  build.payload.options = {
    artifacts: { paths: ['out'] },
    cache: { paths: ['out'] },
    after_script: ['true'],
  };
  await run();
  const marks = [...trace().matchAll(/section_(start|end):\d+:(\w+)\r/g)];
  const names = [
    'prepare_executor',
    'get_sources',
    'restore_cache',
    'download_artifacts',
    'step_script',
    'after_script',
    'upload_artifacts_on_success',
    'archive_cache',
  ];
  t.deepEqual(
    marks.map(([, kind, name]) => `${kind} ${name}`),
    names.flatMap((name) => [`start ${name}`, `end ${name}`]),
  );
});

test('a section ends also when its step fails', async (t) => {
  const { run, server, trace } = await dependency(t, {});
  server.archives.clear();
  await run();
  t.regex(trace(), /section_start:\d+:download_artifacts(.|\s)*section_end:\d+:download_artifacts/);
});
