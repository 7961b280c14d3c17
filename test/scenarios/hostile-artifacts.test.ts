import { access } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import { ZipFile } from 'yazl';
import { dockerTest, testImage } from '../support/docker.ts';
import type { Forge, Project } from '../support/forge.ts';
import { withWorkTrees } from '../support/git.ts';
import type { Hearth } from '../support/hearth.ts';
import { withHearth } from '../support/with-hearth.ts';

const trees = withWorkTrees();
const hearths = withHearth();
const target = join(tmpdir(), `hearth-escaped-${process.pid}`);
let hearth: Hearth;
let forge: Forge;

test.before(async () => {
  hearth = await hearths.start();
  forge = await hearth.forge();
});

test('archives between jobs in a shell keep to the project', async (t) => {
  await playBoth(t, 'shell', ['--executor', 'shell']);
  await t.throwsAsync(access(target), { code: 'ENOENT' });
});

dockerTest('archives between jobs in containers keep to the project', async (t) => {
  const image = await testImage();
  const mounted = await trees.folder();
  const docker = ['--executor', 'docker', '--image', image, '--pull-policy', 'never'];
  // What a way out of the project would lead to.
  await playBoth(t, 'docker', [...docker, '--volumes', `${mounted}:${tmpdir()}`]);
  await t.throwsAsync(access(join(mounted, target.slice(tmpdir().length))), { code: 'ENOENT' });
});

async function playBoth(t: ExecutionContext, name: string, options: string[]): Promise<void> {
  await packing(t, name, options);
  await unpacking(t, `${name}-foreign`, options);
}

/** What a job puts into its project, and what the next one gets of it. */
async function packing(t: ExecutionContext, name: string, options: string[]): Promise<void> {
  const project = await pushed(name, {
    stages: ['first', 'second'],
    make: {
      stage: 'first',
      script: [
        'touch c:drive && mkdir out && cd out && echo fine > file',
        'ln -s /etc/passwd link && ln -s ../../.. up && ln -s / root',
        'mkfifo pipe && mknod device c 1 3',
        `touch "$(printf 'new\\nline\\033[31m')" 'back\\slash'`,
      ],
      artifacts: { paths: ['out', 'c:drive', 'out/up/*', 'out/root/etc', '../*', '/etc/passwd'] },
    },
    use: {
      stage: 'second',
      script: ['cd out && echo new* | od -c && readlink link && readlink up && readlink root && cat file'],
    },
  });
  await hearth.addRunner({ name, token: project.runners_token, options });
  const [make, use] = await forge.ended(project, 2);
  if (!make || !use) return t.fail();
  const packed = await forge.trace(project, make);
  t.is(make.status, 'success', packed);
  for (const warning of [/pipe.*left out/, /device.*left out/, /back\\slash.*left out/, /c:drive.*left out/])
    t.regex(packed, warning);
  for (const way of ['../*', '/etc/passwd', 'out/root/etc', 'out/up'])
    t.true(
      packed.split('\n').some((line) => line.includes('WARNING') && line.includes(way)),
      packed,
    );
  const unpacked = await forge.trace(project, use);
  t.is(use.status, 'success', unpacked);
  t.true(unpacked.includes('\n/etc/passwd\n../../..\n/\nfine\n'), unpacked);
  t.regex(unpacked, /n {3}e {3}w {2}\\n {3}l {3}i {3}n {3}e 033/);
}

interface Archive {
  bytes: Buffer;
  status: 'success' | 'failed';
  /** In the trace of the job that gets it. */
  says: RegExp;
}

/** What a runner of somebody else uploads, and what ours makes of it. */
async function unpacking(t: ExecutionContext, name: string, options: string[]): Promise<void> {
  const archives = await badArchives();
  const jobs = Object.keys(archives).flatMap((title) => [
    [`make ${title}`, { stage: 'first', tags: ['foreign'], script: ['true'] }],
    [`use ${title}`, { stage: 'second', tags: ['own'], dependencies: [`make ${title}`], script: [look] }],
  ]);
  const project = await pushed(name, { stages: ['first', 'second'], ...Object.fromEntries(jobs) });
  await uploadAll(project, archives);
  await hearth.addRunner({ name, token: project.runners_token, options: [...options, '--tags', 'own'] });
  const builds = await forge.ended(project, jobs.length);
  for (const build of builds.filter((one) => one.name.startsWith('use '))) {
    const { status, says } = archives[build.name.slice('use '.length)] ?? {};
    const trace = await forge.trace(project, build);
    t.is(build.status, status ?? 'success', `${build.name}\n${trace}`);
    t.regex(trace, says ?? /never/, build.name);
  }
}

const look = 'for name in *; do if [ -f "$name" ]; then echo "file $name"; fi; done; ls -l';

async function badArchives(): Promise<Record<string, Archive>> {
  const escaped = `../../../../../../../..${target}`;
  return {
    'a way up': refused(
      await zipOf({ [same(escaped)]: 'x' }, { [same(escaped)]: escaped }),
      /invalid relative path/,
    ),
    'an absolute path': refused(
      await zipOf({ [same(target)]: 'x' }, { [same(target)]: target }),
      /absolute path/,
    ),
    'a link to write through': refused(
      await zipOf({ way: link(tmpdir()), [`way/${target.slice(tmpdir().length + 1)}`]: 'x' }),
      /writes through its own link/,
    ),
    'a link to itself': {
      bytes: await zipOf({ loop: link('loop'), file: 'x' }),
      status: 'success',
      says: /loop -> loop/,
    },
    'more than its size': refused(await lying(2 ** 20, 16), /too many bytes/),
    'less than its size': refused(await lying(2 ** 20, 2 ** 21), /not enough bytes/),
    'a bomb': refused(await lying(2 ** 20, 2 ** 32 - 2, 5), /unpacks to more than 17179869184 bytes/),
    'devices and rights': {
      bytes: await zipOf({ device: special(0o020666), pipe: special(0o010666), powerful: special(0o104755) }),
      status: 'success',
      says: /file device\nfile pipe\nfile powerful\n[\s\S]*-rwxr-xr-x[^\n]* powerful/,
    },
    'control characters': {
      bytes: await zipOf({ 'a\nb\u001b[31mc': 'x' }),
      status: 'success',
      says: /file a\nb.\[31mc\n/,
    },
    'no archive': refused(
      Buffer.from('no archive at all, though it is long enough to look like one'),
      /ERROR.*artifacts/,
    ),
  };
}

function refused(bytes: Buffer, says: RegExp): Archive {
  return { bytes, status: 'failed', says };
}

interface Content {
  text: string;
  mode: number;
}

function link(to: string): Content {
  return { text: to, mode: 0o120777 };
}

function special(mode: number): Content {
  return { text: 'x', mode };
}

/** A name of the same length that every tool takes. */
function same(name: string): string {
  return 'n'.repeat(name.length);
}

/** @param renamed what names are changed to afterwards, since the library refuses bad ones. */
async function zipOf(
  files: Record<string, string | Content>,
  renamed: Record<string, string> = {},
): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(files)) {
    const { text, mode } = typeof content === 'string' ? { text: content, mode: 0o100644 } : content;
    zip.addBuffer(Buffer.from(text), name, { mode, compress: false });
  }
  zip.end();
  let bytes = (await buffer(zip.outputStream as Readable)).toString('latin1');
  for (const [from, to] of Object.entries(renamed)) bytes = bytes.replaceAll(from, to);
  return Buffer.from(bytes, 'latin1');
}

/** Files of one size that the archive says to have another. */
async function lying(size: number, said: number, count = 1): Promise<Buffer> {
  const zip = new ZipFile();
  for (let index = 0; index < count; index += 1) zip.addBuffer(Buffer.alloc(size), `zeros-${index}`);
  zip.end();
  const text = (await buffer(zip.outputStream as Readable)).toString('latin1');
  return Buffer.from(text.replaceAll(number(size), number(said)), 'latin1');
}

/** As headers hold it. */
function number(value: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes.toString('latin1');
}

async function pushed(name: string, pipeline: object): Promise<Project> {
  const project = await forge.createProject(name);
  const tree = await trees.fresh();
  await tree.commit({ '.gitlab-ci.yml': JSON.stringify(pipeline) });
  await tree.git('push', '--quiet', forge.cloneUrl(project), 'master');
  return project;
}

/** Takes the builds tagged "foreign" as a runner that does as it likes. */
async function uploadAll(project: Project, archives: Record<string, Archive>): Promise<void> {
  const { token } = await ask<{ token: string }>('POST', 'runners/register', {
    json: { token: project.runners_token, tag_list: 'foreign', run_untagged: false },
  });
  for (const _ of Object.keys(archives)) {
    const build = await ask<{ id: number; name: string; token: string }>('POST', 'builds/register', {
      json: { token },
    });
    const form = new FormData();
    const { bytes } = archives[build.name.slice('make '.length)] ?? { bytes: Buffer.alloc(0) };
    form.set('file', new Blob([new Uint8Array(bytes)]), 'artifacts.zip');
    await ask('POST', `builds/${build.id}/artifacts`, { form, headers: { 'BUILD-TOKEN': build.token } });
    await ask('PUT', `builds/${build.id}`, { json: { token, state: 'success' } });
  }
}

interface Question {
  json?: object;
  form?: FormData;
  headers?: Record<string, string>;
}

async function ask<T>(method: string, path: string, { json, form, headers = {} }: Question): Promise<T> {
  const kind: Record<string, string> = json ? { 'Content-Type': 'application/json' } : {};
  const body = json ? JSON.stringify(json) : form;
  const answer = await fetch(`${hearth.url}/ci/api/v1/${path}`, {
    method,
    headers: { ...kind, ...headers },
    body,
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json() as Promise<T>;
}
