import { readFile } from 'node:fs/promises';
import test from 'ava';
import { hideRefs } from '../../server/git/hide-refs.ts';

test('names are told to git byte by byte, in a file that is gone afterwards', async (t) => {
  const { config, forget } = await hideRefs(['refs/heads/\u00e9"#;', 'refs/heads/two words', 'HEAD']);
  const [[key, file] = ['', '']] = config;
  t.is(key, 'include.path');
  const written = '[receive]\n  hideRefs = "refs/heads/\u00e9\\"#;"\n';
  t.deepEqual(await readFile(file), Buffer.from(written, 'latin1'));
  await forget();
  await t.throwsAsync(readFile(file), { code: 'ENOENT' });
  await t.notThrowsAsync(forget());
});

test('without a name that git would take there is nothing to hide', async (t) => {
  const { config, forget } = await hideRefs(['refs/heads/a..b', 'config']);
  t.deepEqual(config, []);
  await forget();
});
