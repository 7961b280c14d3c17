import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import test from 'ava';
import { withApp } from '../support/app.ts';
import { blobsOf, limitArtifacts, zip } from '../support/artifact-files.ts';
import { eventually } from '../support/eventually.ts';
import { form, rawHttp } from '../support/raw-http.ts';
import { type RunningBuild, runningBuild } from '../support/running-build.ts';

const holder = withApp({ poolSize: 3 });

interface Uploaded {
  artifacts_file: { filename: string; size: number } | null;
}

const formHead = '--form-boundary-1\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n';
const fileHead = `${formHead}Content-Type: application/octet-stream\r\n\r\n`;

function download({ build }: RunningBuild, headers: Record<string, string> = { 'BUILD-TOKEN': build.token }) {
  return rawHttp(`${holder.app.url}/ci/api/v1/builds/${build.id}/artifacts`, 'GET', { headers });
}

function openUpload({ build }: RunningBuild) {
  const sender = request(`${holder.app.url}/ci/api/v1/builds/${build.id}/artifacts`, {
    method: 'POST',
    agent: false,
    headers: {
      'Build-Token': build.token,
      'Content-Type': 'multipart/form-data; boundary=form-boundary-1',
      'Transfer-Encoding': 'chunked',
    },
  });
  const status = new Promise<number | undefined>((resolve) => {
    sender.on('response', (response) => resolve(response.resume().statusCode));
  });
  return { sender, status };
}

test.serial(
  'a build that ends while its upload is on the way is refused, and nothing is left of it',
  async (t) => {
    const calls = await runningBuild(holder.app);
    const before = await blobsOf(holder.app);
    async function* content() {
      yield Buffer.alloc(100_000);
      await eventually(async () => (await blobsOf(holder.app)).length > before.length);
      await calls.act('cancel');
      yield Buffer.alloc(100_000);
    }
    t.is((await calls.upload(form([zip(content())]))).status, 403);
    t.deepEqual(await blobsOf(holder.app), before);
  },
);

test.serial('the limit: one byte below is stored, at the limit it is 413 and nothing is left', async (t) => {
  const calls = await runningBuild(holder.app);
  await limitArtifacts(holder.app, 1);
  const before = await blobsOf(holder.app);
  t.is((await calls.upload(form([zip(Buffer.alloc(1024 * 1024))]))).status, 413);
  t.deepEqual(await blobsOf(holder.app), before);
  t.is((await calls.upload(form([zip(Buffer.alloc(1024 * 1024 - 1))]))).status, 201);
  await limitArtifacts(holder.app, 100);
});

test.serial('a much too large upload is answered to senders that go on to their end', async (t) => {
  await limitArtifacts(holder.app, 1);
  const calls = await runningBuild(holder.app);
  const before = await blobsOf(holder.app);
  const socket = connect(Number(new URL(holder.app.url).port), '127.0.0.1');
  t.teardown(() => socket.destroy());
  const answer = once(socket, 'data');
  const body = await buffer(form([zip(Buffer.alloc(40 * 1024 * 1024))]));
  socket.write(
    `POST /ci/api/v1/builds/${calls.build.id}/artifacts HTTP/1.1\r\nHost: localhost\r\n` +
      `Build-Token: ${calls.build.token}\r\nContent-Length: ${body.length}\r\n` +
      'Content-Type: multipart/form-data; boundary=form-boundary-1\r\n\r\n',
  );
  await new Promise<void>((resolve, reject) => {
    socket.write(body, (error) => (error ? reject(error) : resolve()));
  });
  t.regex(String(await answer), /^HTTP\/1\.1 413 /);
  t.deepEqual(await blobsOf(holder.app), before);
  await limitArtifacts(holder.app, 100);
});

test.serial('a much too large upload is answered before its end', async (t) => {
  await limitArtifacts(holder.app, 1);
  const calls = await runningBuild(holder.app);
  const before = await blobsOf(holder.app);
  const { sender, status } = openUpload(calls);
  sender.on('error', () => undefined);
  sender.write(fileHead);
  sender.write(Buffer.alloc(2 * 1024 * 1024));
  t.is(await status, 413);
  sender.destroy();
  t.deepEqual(await blobsOf(holder.app), before);
  await limitArtifacts(holder.app, 100);
});

test.serial('an upload that breaks off leaves nothing, wherever it does', async (t) => {
  const calls = await runningBuild(holder.app);
  await calls.upload(form([zip('kept')]));
  const before = await blobsOf(holder.app);
  const beginnings: [string, Buffer, boolean][] = [
    ['in the head', Buffer.from(formHead), false],
    ['in the file', Buffer.concat([Buffer.from(fileHead), Buffer.alloc(300_000)]), true],
  ];
  for (const [point, beginning, isFile] of beginnings) {
    const seen = holder.app.logLines.length;
    const { sender } = openUpload(calls);
    sender.on('error', () => undefined);
    await new Promise<void>((resolve) => sender.write(beginning, () => resolve()));
    if (isFile) await eventually(async () => (await blobsOf(holder.app)).length > before.length);
    sender.destroy();
    const path = `/builds/${calls.build.id}/artifacts`;
    await eventually(() => holder.app.logLines.slice(seen).some((line) => line.includes(path)));
    // The answer may be logged a moment before the half-written file is gone.
    await eventually(async () => (await blobsOf(holder.app)).length === before.length);
    t.deepEqual(await blobsOf(holder.app), before, point);
  }
  // A body that ends properly, but in the middle of the form.
  t.is((await calls.upload(`${fileHead}half of the file`)).status, 400);
  t.is((await calls.upload(formHead)).status, 400);
  t.deepEqual(await blobsOf(holder.app), before);
  t.is((await download(calls)).text, 'kept');
});

test.serial('200 MB go up and down without being held in memory', async (t) => {
  await limitArtifacts(holder.app, 300);
  const calls = await runningBuild(holder.app);
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  let peak = 0;
  const note = () => {
    peak = Math.max(peak, process.memoryUsage().external);
  };
  note();
  const atFirst = peak;
  async function* content() {
    for (let index = 0; index < 200; index += 1) {
      note();
      yield chunk;
    }
  }
  const answer = await calls.upload(form([zip(content())]));
  t.is((answer.json as Uploaded).artifacts_file?.size, 200 * 1024 * 1024);
  let size = 0;
  await new Promise<void>((resolve, reject) => {
    request(`${holder.app.url}/ci/api/v1/builds/${calls.build.id}/artifacts`, {
      agent: false,
      headers: { 'Build-Token': calls.build.token },
    })
      .on('error', reject)
      .on('response', (response) => {
        response.on('data', (data: Buffer) => {
          size += data.length;
          note();
        });
        response.on('end', resolve);
        response.on('error', reject);
      })
      .end();
  });
  t.is(size, 200 * 1024 * 1024);
  t.true(peak - atFirst < 100 * 1024 * 1024, `grew by ${Math.round((peak - atFirst) / 1024 / 1024)} MiB`);
  await limitArtifacts(holder.app, 100);
});
