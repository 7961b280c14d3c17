import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import test from 'ava';
import packageJson from '../../package.json' with { type: 'json' };
import { settingsTable } from '../../server/config.ts';
import { parts, readmeFile, renewParts } from '../support/readme.ts';

const readme = await readFile(readmeFile, 'utf8');

test('the generated parts of README.md are those of the code', async (t) => {
  t.is(readme, await renewParts(readme), 'npm run readme writes them');
});

test('each part is written between its markers, and must have a place', async (t) => {
  const empty = Object.keys(parts).map((name) => `<!-- ${name} -->\n<!-- /${name} -->\n`);
  const filled = await renewParts(`Before\n${empty.join('')}After\n`);
  t.true(filled.startsWith('Before\n<!-- settings -->\n| Variable |'));
  t.true(filled.endsWith('<!-- /endpoints -->\nAfter\n'));
  t.is(await renewParts(filled), filled);
  for (const index of empty.keys()) {
    await t.throwsAsync(renewParts(empty.toSpliced(index, 1).join('')), { message: /must have one/ });
    await t.throwsAsync(renewParts([...empty, empty[index]].join('')), { message: /must have one/ });
  }
});

test('README.md speaks only of settings that there are', (t) => {
  const known = `${settingsTable()}\n${readme.split('<!-- commands -->')[1]}`;
  const named = [...readme.matchAll(/\bHEARTH_[A-Z_]+\b/g)].map(([name]) => name.replace(/_FILE$/, ''));
  t.deepEqual(
    named.filter((name) => !known.includes(name)),
    [],
  );
});

test('README.md speaks only of npm scripts that there are', (t) => {
  const named = [...readme.matchAll(/\bnpm (?:run (?:--silent )?)?([a-z]+)\b/g)].map(
    (match) => match[1] ?? '',
  );
  t.true(named.length > 3);
  t.deepEqual(
    named.filter((name) => !(name in packageJson.scripts)),
    [],
  );
});

test('folders and files that README.md names are there', (t) => {
  const root = new URL('../../', import.meta.url);
  const named = [...readme.matchAll(/`((?:server|runner|shared|test|examples)(?:\/[\w./-]+)?)`/g)];
  const paths = named.map((match) => match[1] ?? '');
  t.true(paths.length > 10);
  t.deepEqual(
    paths.filter((path) => !existsSync(new URL(path, root))),
    [],
  );
});
