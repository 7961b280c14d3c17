import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { loadConfig, saveConfig } from '../../runner/config.ts';
import { parseByteSize } from '../../runner/executor/docker-options.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const runner = { name: 'one', url: 'http://127.0.0.1:3000', token: 'secret' };

test('without a file there are no runners', async (t) => {
  const config = await loadConfig(join(await temporaryFolder(t), 'none.json'));
  t.deepEqual(config, { concurrent: 1, check_interval: 3, runners: [] });
});

test('a registration needs no more than name, address and token', async (t) => {
  const path = join(await temporaryFolder(t), 'config.json');
  await saveConfig(path, { runners: [runner] });
  const { runners } = await loadConfig(path);
  t.like(runners[0], { executor: 'docker', output_limit: 4 * 2 ** 20, environment: {} });
  t.like(runners[0]?.docker, { image: 'alpine:latest', privileged: false, wait_for_services_timeout: 30 });
});

test('the file is for its owner alone, and nothing else is left beside it', async (t) => {
  const folder = join(await temporaryFolder(t), 'new');
  const path = join(folder, 'config.json');
  await saveConfig(path, { runners: [runner] });
  await saveConfig(path, { concurrent: 2, runners: [runner] });
  t.is((await stat(path)).mode & 0o777, 0o600);
  t.is((await stat(folder)).mode & 0o777, 0o700);
  t.deepEqual(await readdir(folder), ['config.json']);
});

test('defaults are not written down', async (t) => {
  const path = join(await temporaryFolder(t), 'config.json');
  await saveConfig(path, { runners: [runner] });
  t.deepEqual(JSON.parse(await readFile(path, 'utf8')), { runners: [runner] });
});

test('every fault has a line of its own', async (t) => {
  const path = join(await temporaryFolder(t), 'config.json');
  const wrong = { ...runner, url: 'ftp://x', executor: 'vm', docker: { memory: 'much', surprise: 1 } };
  await writeFile(path, JSON.stringify({ concurrent: -1, runners: [wrong] }));
  const error = await t.throwsAsync(loadConfig(path), { name: 'ConfigFault' });
  const lines = error?.message.split('\n') ?? [];
  t.is(lines.length, 5);
  for (const place of ['concurrent', 'runners[0].url', 'runners[0].executor', 'runners[0].docker.memory']) {
    t.true(
      lines.some((line) => line.startsWith(`${path}: ${place}: `)),
      place,
    );
  }
  t.true(lines.some((line) => line.includes('surprise')));
});

test('two runners cannot have one name', async (t) => {
  const path = join(await temporaryFolder(t), 'config.json');
  await t.throwsAsync(saveConfig(path, { runners: [runner, runner] }), { message: /same name/ });
});

test('a file that is no JSON is one line', async (t) => {
  const path = join(await temporaryFolder(t), 'config.json');
  await writeFile(path, '{');
  const error = await t.throwsAsync(loadConfig(path), { name: 'ConfigFault' });
  t.is(error?.message.split('\n').length, 1);
});

for (const [text, bytes] of [
  ['512m', 512 * 2 ** 20],
  ['1.5g', 1.5 * 2 ** 30],
  ['2GiB', 2 * 2 ** 30],
  ['100', 100],
  ['10kb', 10240],
  ['much', null],
  ['', null],
  ['-1m', null],
] as const) {
  test(`the size "${text}" is ${bytes}`, (t) => {
    t.is(parseByteSize(text), bytes);
  });
}
