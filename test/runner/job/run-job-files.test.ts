import test, { type ExecutionContext } from 'ava';
import type { Script } from '../../../runner/executor/scripted.ts';
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
