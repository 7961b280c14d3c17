import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import { blobsOf, zip } from '../support/artifact-files.ts';
import { form, rawHttp } from '../support/raw-http.ts';
import { type RunningBuild, runningBuild } from '../support/running-build.ts';

const holder = withApp({ poolSize: 3 });

interface Uploaded {
  artifacts_file: { filename: string; size: number } | null;
}

function download({ build }: RunningBuild, headers: Record<string, string> = { 'BUILD-TOKEN': build.token }) {
  return rawHttp(`${holder.app.url}/ci/api/v1/builds/${build.id}/artifacts`, 'GET', { headers });
}

async function expiry({ build }: RunningBuild): Promise<number | null> {
  const [row] = await holder.app.rows<{ left: number | null }>(
    'select extract(epoch from artifacts_expire_at - now())::float8 as left from builds where id = $1',
    [build.id],
  );
  return row?.left ?? null;
}

test.serial('what was uploaded is downloaded byte by byte, by runners and by users', async (t) => {
  const calls = await runningBuild(holder.app);
  const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 256));
  const answer = await calls.upload(form([zip(content, 'out.zip')]));
  t.is(answer.status, 201);
  t.like(answer.json, { id: calls.build.id, artifacts_file: { filename: 'out.zip', size: 300_000 } });
  const { project, build } = calls;
  const asUser = `${holder.app.url}/api/v3/projects/${project.id}/builds/${build.id}/artifacts`;
  const answers = [
    await download(calls),
    await download(calls, { 'BUILD-TOKEN': project.runnersToken }),
    await rawHttp(asUser, 'GET', { headers: { 'PRIVATE-TOKEN': rootToken } }),
  ];
  for (const answer of answers) {
    t.is(answer.status, 200);
    t.true(answer.bytes.equals(content));
    t.is(answer.headers['content-type'], 'application/octet-stream');
    t.regex(answer.headers['content-disposition'] ?? '', /^attachment; filename="?out\.zip"?$/);
    t.is(answer.headers['content-transfer-encoding'], 'binary');
    t.is(answer.headers['content-length'], '300000');
  }
});

test.serial('a second upload replaces the first, whose bytes go', async (t) => {
  const calls = await runningBuild(holder.app);
  await calls.upload(form([zip('first')]));
  await holder.app.runAllTasks();
  const before = await blobsOf(holder.app);
  await calls.upload(form([zip('the second', 'b.zip')]));
  t.is((await download(calls)).text, 'the second');
  await holder.app.runAllTasks();
  t.is((await blobsOf(holder.app)).length, before.length);
  t.is((await download(calls)).text, 'the second');
});

test.serial('the token may come in the header, the query, or a field before the file', async (t) => {
  const calls = await runningBuild(holder.app);
  const { build, project } = calls;
  const none = { 'Build-Token': '' };
  for (const token of [build.token, project.runnersToken]) {
    const parts = [{ name: 'token', content: token }, zip('x')];
    t.is((await calls.upload(form(parts), { headers: none })).status, 201);
    t.is((await calls.upload(form([zip('x')]), { headers: none, query: `?token=${token}` })).status, 201);
    t.is((await calls.upload(form([zip('x')]), { headers: { 'Build-Token': token } })).status, 201);
  }
  const before = await blobsOf(holder.app);
  const refused = [
    await calls.upload(form([zip('x')]), { headers: none }),
    await calls.upload(form([{ name: 'token', content: 'wrong' }, zip('x')]), { headers: none }),
    await calls.upload(form([zip('x')]), { query: '?token=wrong' }),
    await calls.upload(form([zip('x')]), { headers: { 'Build-Token': 'wrong' } }),
    await calls.upload(form([]), { headers: none }),
    await calls.upload(form([{ name: 'token', content: 'wrong' }]), { headers: none }),
  ];
  for (const answer of refused) t.is(answer.status, 403);
  t.deepEqual(await blobsOf(holder.app), before);
});

test.serial('no file, a file of another name, no form: 400, and what was there stays', async (t) => {
  const calls = await runningBuild(holder.app);
  await calls.upload(form([zip('kept')]));
  const missing = await calls.upload(form([{ name: 'other', filename: 'x', content: 'x' }]));
  t.is(missing.status, 400);
  t.deepEqual(missing.json, { message: '400 (Bad request) "Missing artifacts file!" not given' });
  t.is((await calls.upload(form([{ name: 'file', content: 'a field, not a file' }]))).status, 400);
  t.is((await calls.upload('{}', { headers: { 'Content-Type': 'application/json' } })).status, 400);
  t.is((await calls.upload('x', { headers: { 'Content-Type': 'multipart/form-data' } })).status, 400);
  t.is((await calls.upload('no boundary in here')).status, 400);
  t.is((await download(calls)).text, 'kept');
});

test.serial('other files of the form are passed over', async (t) => {
  const calls = await runningBuild(holder.app);
  const metadata = { name: 'metadata', filename: 'metadata.gz', content: Buffer.alloc(200_000) };
  t.is((await calls.upload(form([metadata, zip('the file'), metadata]))).status, 201);
  t.is((await download(calls)).text, 'the file');
});

test.serial('an empty file is one', async (t) => {
  const calls = await runningBuild(holder.app);
  const answer = await calls.upload(form([zip('')]));
  t.deepEqual((answer.json as Uploaded).artifacts_file, { filename: 'artifacts.zip', size: 0 });
  const got = await download(calls);
  t.is(got.status, 200);
  t.is(got.bytes.length, 0);
});

test.serial('uploads are for builds at work, and for ten minutes after their end', async (t) => {
  const { rows } = holder.app;
  const calls = await runningBuild(holder.app);
  const { build } = calls;
  const end = (status: string, ago: string) =>
    rows('update builds set status = $2, finished_at = now() - $3::interval where id = $1', [
      build.id,
      status,
      ago,
    ]);
  for (const status of ['success', 'failed']) {
    await end(status, '9 minutes');
    t.is((await calls.upload(form([zip(status)]))).status, 201, status);
    await end(status, '11 minutes');
    const late = await calls.upload(form([zip('late')]));
    t.is(late.status, 403, status);
    t.deepEqual(late.json, { message: '403 Forbidden - Build is not running!' });
  }
  await end('canceled', '1 second');
  t.is((await calls.upload(form([zip('late')]))).status, 403);
  await rows(`update builds set status = 'pending', finished_at = null where id = $1`, [build.id]);
  t.is((await calls.upload(form([zip('early')]))).status, 403);
  const ofProject = { 'BUILD-TOKEN': calls.project.runnersToken };
  t.is((await download(calls, ofProject)).text, 'failed', 'a download is possible in every state');
});

test.serial(
  'ten minutes after its build a token opens nothing; that of the project still does',
  async (t) => {
    const calls = await runningBuild(holder.app);
    await calls.upload(form([zip('kept')]));
    const end = `update builds set status = 'success', finished_at = now() - $2::interval where id = $1`;
    await holder.app.rows(end, [calls.build.id, '9 minutes']);
    t.is((await download(calls)).text, 'kept');
    await holder.app.rows(end, [calls.build.id, '11 minutes']);
    t.is((await download(calls)).status, 403);
    const url = `${holder.app.url}/ci/api/v1/builds/${calls.build.id}/artifacts`;
    const own = await rawHttp(url, 'DELETE', { headers: { 'BUILD-TOKEN': calls.build.token } });
    t.is(own.status, 403);
    const ofProject = { 'BUILD-TOKEN': calls.project.runnersToken };
    t.is((await download(calls, ofProject)).text, 'kept');
    t.is((await rawHttp(url, 'DELETE', { headers: ofProject })).status, 200);
    t.is((await download(calls, ofProject)).status, 404);
  },
);

test.serial('an erased build takes no artifacts and has none', async (t) => {
  const calls = await runningBuild(holder.app);
  await calls.upload(form([zip('gone')]));
  await calls.put({ state: 'success' });
  await calls.act('erase');
  const answer = await calls.upload(form([zip('x')]));
  t.is(answer.status, 403);
  t.deepEqual(answer.json, { message: '403 Forbidden - Build has been erased!' });
  t.is((await download(calls)).status, 404);
});

test.serial('the time to live follows what people write, in query or field; the query wins', async (t) => {
  const calls = await runningBuild(holder.app);
  const day = 86_400;
  const spans: [string, number | null][] = [
    ['7d', 7 * day],
    ['7 days', 7 * day],
    ['3 mins 4 sec', 184],
    ['2h20min', 8400],
    ['6 mos 1 day', 181 * day],
    ['47 yrs 6 mos and 4d', 47 * 365.25 * day + 184 * day],
    ['90', 90],
    ['never', null],
  ];
  for (const [text, seconds] of spans) {
    const query = `?expire_in=${encodeURIComponent(text)}`;
    t.is((await calls.upload(form([zip('x')]), { query })).status, 201, text);
    const left = await expiry(calls);
    if (seconds === null) t.is(left, null, text);
    else t.true(left !== null && left <= seconds && left > seconds - 60, `${text}: ${left}`);
  }
  const field = { name: 'expire_in', content: '1 day' };
  await calls.upload(form([field, zip('x')]));
  t.true(((await expiry(calls)) ?? 0) > day - 60);
  await calls.upload(form([field, zip('x')]), { query: '?expire_in=1h' });
  t.true(((await expiry(calls)) ?? day) <= 3600);
  await calls.upload(form([zip('x'), field]));
  t.true(((await expiry(calls)) ?? 0) > day - 60, 'a field after the file');
  await calls.upload(form([zip('x')]), { query: '?' });
  t.is(await expiry(calls), null, 'a new upload without a time stays');
});

test.serial('a time to live that nobody understands is refused before anything is stored', async (t) => {
  const calls = await runningBuild(holder.app);
  await calls.upload(form([zip('kept')]));
  const before = await blobsOf(holder.app);
  for (const text of ['soon', '7 parsecs', '20000 years', 'x'.repeat(300)]) {
    const query = `?expire_in=${encodeURIComponent(text)}`;
    t.is((await calls.upload(form([zip('x')]), { query })).status, 400, text);
    const parts = [{ name: 'expire_in', content: text }, zip('x')];
    t.is((await calls.upload(form(parts))).status, 400, `${text} as a field`);
    t.is((await calls.upload(form(parts.reverse()))).status, 400, `${text} as a field after the file`);
  }
  t.deepEqual(await blobsOf(holder.app), before);
  t.is((await download(calls)).text, 'kept');
});

test.serial('expired artifacts are gone at once', async (t) => {
  const calls = await runningBuild(holder.app);
  await calls.upload(form([zip('x')]), { query: '?expire_in=1h' });
  t.is((await download(calls)).status, 200);
  await holder.app.rows(`update builds set artifacts_expire_at = now() where id = $1`, [calls.build.id]);
  t.is((await download(calls)).status, 404);
  const one = await holder.app.call<Uploaded>(
    'GET',
    `/api/v3/projects/${calls.project.id}/builds/${calls.build.id}`,
    { as: rootToken },
  );
  t.is(one.body.artifacts_file, null);
});

test.serial('artifacts are deleted with their bytes; deleting none is fine', async (t) => {
  const calls = await runningBuild(holder.app);
  await holder.app.runAllTasks();
  const before = await blobsOf(holder.app);
  await calls.upload(form([zip('x')]));
  const url = `${holder.app.url}/ci/api/v1/builds/${calls.build.id}/artifacts`;
  for (let round = 0; round < 2; round += 1) {
    const answer = await rawHttp(url, 'DELETE', { headers: { 'Build-Token': calls.build.token } });
    t.is(answer.status, 200);
    await holder.app.runAllTasks();
    t.is((await download(calls)).status, 404);
    t.deepEqual(await blobsOf(holder.app), before);
  }
});

test.serial('names of files are reduced to what means nothing to a path or a header', async (t) => {
  const calls = await runningBuild(holder.app);
  const names: [string, string][] = [
    ['../../etc/passwd', 'passwd'],
    ['..\\..\\boot.ini', 'boot.ini'],
    ['..', 'artifacts.zip'],
    ['.hidden', '_hidden'],
    ['a b;c=d.zip', 'a_b_c_d.zip'],
    ['名前.zip', '__.zip'],
    ['tar+gz-1_2.tgz', 'tar+gz-1_2.tgz'],
    ['', 'artifacts.zip'],
  ];
  for (const [given, stored] of names) {
    const answer = await calls.upload(form([zip('x', given)]));
    t.is((answer.json as Uploaded).artifacts_file?.filename, stored, given);
    t.true((await download(calls)).headers['content-disposition']?.endsWith(`filename="${stored}"`), given);
  }
  for (const path of await blobsOf(holder.app)) t.false(path.includes('passwd'));
});
