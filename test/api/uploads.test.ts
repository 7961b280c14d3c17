import test from 'ava';
import { type Answer, rootToken, withApp } from '../support/app.ts';
import { blobsOf } from '../support/artifact-files.ts';
import { formOf } from '../support/form-of.ts';
import { form, formType, rawHttp } from '../support/raw-http.ts';

const holder = withApp({ poolSize: 3 });

interface Upload {
  alt: string;
  url: string;
  is_image: boolean;
  markdown: string;
}

function upload(
  project: { id: number },
  as: string | undefined,
  file: { filename: string; content?: string },
): Promise<Answer<Upload>> {
  const { headers, body } = formOf({ name: 'file', content: 'bytes', ...file });
  return holder.app.call('POST', `/api/v3/projects/${project.id}/uploads`, { as, headers, body });
}

function get(path: string, as?: string) {
  return rawHttp(holder.app.url + path, 'GET', { headers: as === undefined ? {} : { 'PRIVATE-TOKEN': as } });
}

test.serial('a picture is stored, answered as text for a page, and shown', async (t) => {
  const project = await holder.app.make.project();
  const as = project.owner.token;
  const answer = await upload(project, as, { filename: 'a shot.PNG', content: 'picture' });
  t.is(answer.status, 201);
  const secret = /^\/uploads\/([0-9a-f]{32})\/a_shot\.PNG$/.exec(answer.body.url)?.[1];
  t.deepEqual(answer.body, {
    alt: 'a_shot',
    url: `/uploads/${secret}/a_shot.PNG`,
    is_image: true,
    markdown: `![a_shot](/uploads/${secret}/a_shot.PNG)`,
  });
  for (const path of [answer.body.url, `/${project.fullPath}${answer.body.url}`]) {
    const shown = await get(path, as);
    t.is(shown.status, 200);
    t.is(shown.text, 'picture');
    t.is(shown.headers['content-type'], 'image/png');
    t.is(shown.headers['content-length'], '7');
    t.is(shown.headers['content-disposition'], 'inline; filename="a_shot.PNG"');
    t.is(shown.headers['x-content-type-options'], 'nosniff');
    t.is(shown.headers['content-security-policy'], "default-src 'none'; sandbox");
    t.is(shown.headers['cache-control'], 'private, no-cache');
  }
});

test.serial('what a browser could run is only ever saved', async (t) => {
  const project = await holder.app.make.project({ visibility: 'public' });
  for (const filename of ['a.html', 'a.svg', 'a.png.js', 'png', 'a.xml']) {
    const { body } = await upload(project, project.owner.token, { filename, content: '<script>' });
    t.is(body.is_image, false);
    t.is(body.markdown, `[${filename}](${body.url})`);
    const saved = await get(body.url);
    t.is(saved.headers['content-type'], 'application/octet-stream');
    t.is(saved.headers['content-disposition'], `attachment; filename="${filename}"`);
    t.is(saved.headers['x-content-type-options'], 'nosniff');
  }
});

test.serial('names lose what means something to a file system, a header or a page', async (t) => {
  const project = await holder.app.make.project({ visibility: 'public' });
  const names: Record<string, string> = {
    '../../etc/passwd': 'passwd',
    'C:\\\\temp\\\\a.txt': 'a.txt',
    '.htaccess': '_htaccess',
    '..': 'file',
    'x](javascript:1).png': 'x__javascript_1_.png',
    'ü ö<b>.txt': '____b_.txt',
    [`${'n'.repeat(300)}.png`]: `${'n'.repeat(196)}.png`,
  };
  for (const [filename, kept] of Object.entries(names)) {
    const answer = await upload(project, project.owner.token, { filename });
    t.is(answer.status, 201, filename);
    t.is(answer.body.url.split('/')[3], kept);
    t.is((await get(answer.body.url)).status, 200);
  }
});

test.serial('files are for those who may read the project', async (t) => {
  const { make } = holder.app;
  const stranger = await make.user();
  const external = await make.user({ external: true });
  const blocked = await make.user({ state: 'blocked' });
  const readers = {
    private: [404, 404, 404, 401],
    internal: [404, 200, 404, 401],
    public: [200, 200, 200, 401],
  };
  for (const [visibility, statuses] of Object.entries(readers)) {
    const project = await make.project({ visibility: visibility as keyof typeof readers });
    const guest = await make.member(project, 'guest');
    const { body } = await upload(project, guest.token, { filename: 'a.txt' });
    for (const path of [body.url, `/${project.fullPath}${body.url}`]) {
      const callers = [undefined, stranger.token, external.token, blocked.token];
      const answers = await Promise.all(callers.map((as) => get(path, as)));
      t.deepEqual(
        answers.map(({ status }) => status),
        statuses,
        `${visibility} ${path}`,
      );
      for (const as of [guest.token, project.owner.token, rootToken]) t.is((await get(path, as)).status, 200);
      t.is((await get(`${path}?private_token=${guest.token}`)).status, 200);
    }
  }
});

test.serial('a file is where its address says, and nowhere else', async (t) => {
  const { make } = holder.app;
  const project = await make.project({ visibility: 'public' });
  const other = await make.project({ visibility: 'public' });
  const { body } = await upload(project, project.owner.token, { filename: 'a.txt' });
  const secret = body.url.split('/')[2];
  const nowhere = [
    `/${other.fullPath}${body.url}`,
    `/uploads/${secret}/b.txt`,
    `/uploads/${'0'.repeat(32)}/a.txt`,
    '/uploads/short/a.txt',
    `/uploads/${secret}`,
    `/uploads/${secret}/..%2F..%2Fa.txt`,
  ];
  for (const path of nowhere) t.is((await get(path)).status, 404, path);
  t.is((await get(`/${project.fullPath.toUpperCase()}${body.url}`)).status, 200);
});

test.serial('who may see a project may upload to it; others do not hear of it', async (t) => {
  const { app } = holder;
  const stranger = await app.make.user();
  const hidden = await app.make.project();
  const open = await app.make.project({ visibility: 'internal' });
  const denied = await upload(hidden, stranger.token, { filename: 'a.txt' });
  t.is(denied.status, 404);
  t.deepEqual(denied.body, { message: '404 Project Not Found' } as never);
  t.is((await upload(hidden, undefined, { filename: 'a.txt' })).status, 401);
  t.is((await upload(open, stranger.token, { filename: 'a.txt' })).status, 201);
  t.deepEqual(await app.rows('select uploader_id from uploads where project_id = $1', [open.id]), [
    { uploader_id: stranger.id },
  ]);
  t.deepEqual(await app.rows('select 1 from uploads where project_id = $1', [hidden.id]), []);
});

test.serial('without a file: 400, and nothing is stored', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const path = `/api/v3/projects/${project.id}/uploads`;
  const before = await blobsOf(app);
  const as = project.owner.token;
  const requests = [
    formOf({ name: 'other', filename: 'a', content: 'x' }),
    formOf({ name: 'file', content: 'no file' }),
    formOf(),
    { json: { file: 'x' } },
    { form: { file: 'x' } },
    { headers: { 'Content-Type': 'multipart/form-data' }, body: 'x' },
    { headers: { 'Content-Type': 'nonsense' }, body: 'x' },
    {},
  ];
  for (const request of requests) {
    const answer = await app.call('POST', path, { as, ...request });
    t.is(answer.status, 400);
    t.deepEqual(answer.body, { message: '400 (Bad request) "file" not given' }, JSON.stringify(request));
  }
  t.deepEqual(await blobsOf(app), before);
});

test.serial(
  'the largest attachment is the one that the setting says; a larger one leaves nothing',
  async (t) => {
    const { app } = holder;
    const project = await app.make.project();
    await app.rows('update settings set max_attachment_size = 1');
    const before = await blobsOf(app);
    const send = (size: number) =>
      rawHttp<Upload>(`${app.url}/api/v3/projects/${project.id}/uploads`, 'POST', {
        headers: { 'PRIVATE-TOKEN': project.owner.token, 'Content-Type': formType },
        body: form([{ name: 'file', filename: 'large', content: Buffer.alloc(size) }]),
      });
    const refused = await send(1024 * 1024 + 1);
    t.is(refused.status, 413);
    t.deepEqual(refused.json, { message: '413 Request Entity Too Large' } as never);
    t.deepEqual(await blobsOf(app), before);
    t.deepEqual(await app.rows('select 1 from uploads where project_id = $1', [project.id]), []);
    const taken = await send(1024 * 1024);
    t.is(taken.status, 201);
    t.is((await get(taken.json.url, project.owner.token)).bytes.length, 1024 * 1024);
    await app.rows('update settings set max_attachment_size = 10');
  },
);

test.serial('a project that goes while a file arrives leaves nothing of it', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const before = await blobsOf(app);
  async function* slowly() {
    yield Buffer.from('first half ');
    await app.rows('update projects set pending_delete = true where id = $1', [project.id]);
    yield Buffer.from('second half');
  }
  const answer = await rawHttp(`${app.url}/api/v3/projects/${project.id}/uploads`, 'POST', {
    headers: { 'PRIVATE-TOKEN': project.owner.token, 'Content-Type': formType },
    body: form([{ name: 'file', filename: 'a', content: slowly() }]),
  });
  t.is(answer.status, 404);
  t.deepEqual(await blobsOf(app), before);
});

test.serial('the files of a project that is being removed are gone at once', async (t) => {
  const { app } = holder;
  const project = await app.make.project({ visibility: 'public' });
  const { body } = await upload(project, project.owner.token, { filename: 'a.txt' });
  await app.rows('update projects set pending_delete = true where id = $1', [project.id]);
  t.is((await get(body.url, rootToken)).status, 404);
});
