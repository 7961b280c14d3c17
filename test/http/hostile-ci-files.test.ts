import test from 'ava';
import { withPushes } from '../support/pushes.ts';
import { rawHttp } from '../support/raw-http.ts';

const { holder, empty, pipelines, builds, outstanding } = withPushes();

/** Pushes a CI file, and gives back what came of it. */
async function pushConfig(text: string) {
  const pushed = await empty();
  await pushed.tree.commit({ '.gitlab-ci.yml': text });
  const ran = await pushed.tree.try('push', pushed.url, 'master');
  const [pipeline] = await pipelines(pushed.project);
  return {
    code: ran.code,
    pipeline,
    builds: await builds(pushed.project),
    outstanding: await outstanding(pushed.project),
  };
}

test.serial(
  'CI files that are made to do harm: the push is taken, and the pipeline says what is wrong',
  async (t) => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (const [index, name] of [...'bcdefghi'].entries()) {
      const before = 'abcdefgh'[index];
      bomb.push(`${name}: &${name} [${new Array(9).fill(`*${before}`).join(', ')}]`);
    }
    const cases: [string, string, RegExp][] = [
      ['2 MB', `job: {script: "${'x'.repeat(2 * 1024 * 1024)}"}`, /larger than 1048576 bytes/],
      ['an alias bomb', `${bomb.join('\n')}\njob: {script: *i}\n`, /alias/i],
      ['an alias of itself', 'job: &a {script: [*a]}', /alias|deep|itself|circular/i],
      ['deep brackets', `job: {script: ${'['.repeat(50_000)}${']'.repeat(50_000)}}`, /./],
      ['NUL', 'job: {script: "a\\0b"}', /NUL/],
      ['bytes', `job: {script: "\ud800"}`, /./],
      ['a binary file', Buffer.from([0, 1, 2, 3, 255, 254]).toString('latin1'), /./],
      [
        'a regex that takes for ever',
        'job: {script: x, only: ["/(a+)+$/", "/((((((a{99}){99}){99}){99}){99}){99})/"]}',
        /only/,
      ],
      [
        'many jobs',
        Array.from({ length: 2000 }, (_, index) => `j${index}: {script: x}`).join('\n'),
        /more than 500 jobs/,
      ],
    ];
    for (const [name, text, cause] of cases) {
      const result = await pushConfig(text);
      t.is(result.code, 0, name);
      t.is(result.outstanding, 0, name);
      if (name === 'bytes' && result.pipeline?.status === 'pending') continue;
      t.is(result.pipeline?.status, 'failed', name);
      t.regex(result.pipeline?.yaml_errors ?? '', cause, name);
      t.deepEqual(result.builds, [], name);
    }
  },
);

test.serial(
  'jobs and variables that are called like parts of the language are jobs and variables',
  async (t) => {
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then', 'valueOf'];
    const keys = names.map((name) => `${name}: "${name} of all"`).join(', ');
    const jobs = names.map(
      (name) => `${name}: {stage: test, script: "echo ${name}", variables: {${keys}}, tags: [${name}]}`,
    );
    const result = await pushConfig(`variables: {${keys}}\n${jobs.join('\n')}\n`);
    t.is(result.code, 0);
    t.is(result.pipeline?.yaml_errors, null);
    t.deepEqual(result.builds.map(({ name }) => name).sort(), [...names].sort());
    t.deepEqual(({} as Record<string, unknown>).stage, undefined);
    const [row] = await holder.app.rows<{ id: number; project_id: number }>(
      `select id, project_id from builds where name = '__proto__' order by id desc limit 1`,
    );
    const runner = await holder.app.make.runner({ projects: [{ id: row?.project_id ?? 0 }], tags: names });
    const claimed = await rawHttp<{ variables: { key: string; value: string }[] }>(
      `${holder.app.url}/ci/api/v1/builds/register`,
      'POST',
      { json: { token: runner.token } },
    );
    t.is(claimed.status, 201);
    for (const name of names) {
      t.deepEqual(
        claimed.json.variables.filter(({ key }) => key === name).at(-1)?.value,
        `${name} of all`,
        name,
      );
    }
  },
);
