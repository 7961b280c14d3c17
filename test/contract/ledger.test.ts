import test from 'ava';
import { type ProjectAbility, projectAbilities } from '../../server/policy/abilities.ts';
import { everyEndpoint, shapeOf } from './every-endpoint.ts';
import { beyond, type Entry, ledger } from './ledger.ts';
import { sourceFiles } from './source-files.ts';

/** What is left to do of the interface. It may only get smaller: change it when you take an entry off the list. */
const leftToDo = 0;

const entries: [string, Entry][] = Object.entries(ledger);
const served = everyEndpoint().map(({ name }) => shapeOf(name));

test('the interface has 165 endpoints, each listed once', (t) => {
  const shapes = entries.map(([name]) => shapeOf(name));
  t.is(shapes.length, 165);
  t.deepEqual(duplicates(shapes), []);
});

test('no endpoint is declared twice', (t) => {
  t.deepEqual(duplicates(served), []);
});

test('what is marked as done is served', (t) => {
  const done = [...entries, ...Object.entries(beyond)].filter(([, entry]) => entry === 'done');
  const missing = done.map(([name]) => name).filter((name) => !served.includes(shapeOf(name)));
  t.deepEqual(missing, []);
});

test('what is served is no longer on the to-do list', (t) => {
  const todos = [...entries, ...Object.entries(beyond)].filter(([, entry]) => entry !== 'done');
  const finished = todos.map(([name]) => name).filter((name) => served.includes(shapeOf(name)));
  t.deepEqual(finished, [], 'mark these as done in ledger.ts and lower `leftToDo`');
});

test('the to-do list only gets shorter', (t) => {
  t.is(entries.filter(([, entry]) => entry !== 'done').length, leftToDo);
});

test('whatever is served beyond the interface is listed as such', (t) => {
  const listed = new Set([...entries, ...Object.entries(beyond)].map(([name]) => shapeOf(name)));
  const unlisted = everyEndpoint()
    .map(({ name }) => name)
    .filter((name) => !listed.has(shapeOf(name)));
  t.deepEqual(unlisted, []);
  const both = Object.keys(beyond).filter((name) => name in ledger);
  t.deepEqual(both, [], 'part of the interface, so not beyond it');
});

test('each ability is asked for by the code, or will be by an endpoint of the to-do list', (t) => {
  const planned = [...entries, ...Object.entries(beyond)].flatMap(([, entry]) =>
    entry === 'done' ? [] : entry.abilities,
  );
  const known = new Set<string>([...askedFor(), ...planned]);
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
