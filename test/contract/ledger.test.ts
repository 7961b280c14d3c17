import test from 'ava';
import { type ProjectAbility, projectAbilities } from '../../server/policy/abilities.ts';
import { everyEndpoint, shapeOf } from './every-endpoint.ts';
import { beyond, ledger } from './ledger.ts';
import { sourceFiles } from './source-files.ts';

const served = everyEndpoint().map(({ name }) => shapeOf(name));

test('the interface has 165 endpoints, each listed once', (t) => {
  const shapes = ledger.map(shapeOf);
  t.is(shapes.length, 165);
  t.deepEqual(duplicates(shapes), []);
});

test('no endpoint is declared twice', (t) => {
  t.deepEqual(duplicates(served), []);
});

test('what is listed is served', (t) => {
  const missing = [...ledger, ...beyond].filter((name) => !served.includes(shapeOf(name)));
  t.deepEqual(missing, []);
});

test('whatever is served beyond the interface is listed as such', (t) => {
  const listed = new Set([...ledger, ...beyond].map(shapeOf));
  const unlisted = everyEndpoint()
    .map(({ name }) => name)
    .filter((name) => !listed.has(shapeOf(name)));
  t.deepEqual(unlisted, []);
  const both = beyond.filter((name) => ledger.includes(name));
  t.deepEqual(both, [], 'part of the interface, so not beyond it');
});

test('each ability is asked for by the code', (t) => {
  const known = askedFor();
  const names = Object.keys(projectAbilities) as ProjectAbility[];
  t.deepEqual(
    names.filter((name) => !known.has(name)),
    [],
  );
});

/** Abilities that an access line, `can` or `authorize` names, outside the table that defines them. */
function askedFor(): Set<string> {
  const found = new Set<string>();
  for (const { path, text } of sourceFiles(['server'])) {
    if (path === 'server/policy/abilities.ts') continue;
    for (const call of text.matchAll(/\b(?:on[A-Z]\w+|can|authorize)\(([^()]*)\)/g)) {
      for (const name of (call[1] ?? '').matchAll(/'(\w+)'/g)) found.add(name[1] ?? '');
    }
  }
  return found;
}

function duplicates(names: string[]): string[] {
  return names.filter((name, index) => names.indexOf(name) !== index);
}
