import { basename, posix } from 'node:path';
import test from 'ava';
import ts from 'typescript';
import { environmentReaders, folderRules, forbiddenFolders, longest, packageRules } from './import-rules.ts';
import { foldersAndFiles, placeOf, type SourceFile, sourceFiles, walk } from './source-files.ts';

const product = sourceFiles(['server', 'runner', 'shared']);
/** May import whatever they look at. */
const tests = sourceFiles(['test', 'bench']);
const all = [...product, ...tests].map((file) => ({ ...file, imports: importsOf(file) }));
const ours = all.filter(({ path }) => !/^(?:test|bench)\//.test(path));

interface Import {
  /** A path from the root of the repository, or the name of a package. */
  target: string;
  isOurs: boolean;
  isType: boolean;
  place: string;
}

test('each folder of the product has an import rule, and each rule a folder', (t) => {
  const folders = new Set(product.map(({ path }) => posix.dirname(path)).filter((path) => !isTop(path)));
  t.deepEqual([...folders].sort(), Object.keys(folderRules).sort());
});

test('folders import only what their rule allows', (t) => {
  t.deepEqual(
    ours.flatMap(({ path, imports }) => imports.filter((item) => breaksRule(path, item)).map(shown)),
    [],
  );
});

test('server, runner and shared know nothing of each other but what is shared, and nothing of the tests', (t) => {
  const allowed: Record<string, string[]> = {
    shared: ['shared'],
    server: ['server', 'shared', 'package.json'],
    runner: ['runner', 'shared', 'package.json'],
  };
  const broken = ours.flatMap(({ path, imports }) =>
    imports.filter(({ target, isOurs }) => isOurs && !allowed[part(path)]?.includes(part(target))).map(shown),
  );
  t.deepEqual(broken, []);
});

test('shared code and the CI language are pure: no input and output of Node', (t) => {
  const pure = ours.filter(({ path }) => /^(?:shared|server\/ci|server\/policy)\//.test(path));
  const broken = pure.flatMap(({ imports }) =>
    imports.filter(({ target }) => target.startsWith('node:')).map(shown),
  );
  t.deepEqual(broken, []);
});

test('each package is imported where it belongs and nowhere else', (t) => {
  const broken = ours.flatMap(({ path, imports }) =>
    imports
      .filter(({ target }) => packageRules[target] && !isWithin(path, packageRules[target] ?? []))
      .map(shown),
  );
  t.deepEqual(broken, []);
  const docker = tests.filter(
    ({ path, text }) => /^import (?!type ).*'dockerode'/m.test(text) && !path.startsWith('test/support/'),
  );
  t.deepEqual(
    docker.map(({ path }) => path),
    [],
    'tests reach Docker through test/support',
  );
});

test('the environment of the process is read in a few places only', (t) => {
  t.deepEqual(
    find(product, isProcessEnvironment).filter((place) => !environmentReaders.includes(fileOf(place))),
    [],
  );
});

test('nothing is written to the console', (t) => {
  const isConsole = (node: ts.Node) =>
    ts.isPropertyAccessExpression(node) && node.expression.getText() === 'console';
  t.deepEqual(find(all, isConsole), []);
});

test('no any, no non-null assertion, no enum', (t) => {
  const isForbidden = (node: ts.Node) =>
    node.kind === ts.SyntaxKind.AnyKeyword || ts.isNonNullExpression(node) || ts.isEnumDeclaration(node);
  t.deepEqual(find(all, isForbidden), []);
});

test('the unit of work of the ORM is left alone: with its first use, each promise of the process gets dearer', (t) => {
  const words = ['create', 'persist', 'remove', 'flush', 'commit', 'transactional', 'findAndCount'];
  const isUnitOfWork = (node: ts.Node) =>
    ts.isPropertyAccessExpression(node) &&
    words.includes(node.name.text) &&
    /(?:^|\.)em$/.test(node.expression.getText());
  t.deepEqual(find(product, isUnitOfWork), []);
});

test('exports have names, but for the configuration of a tool', (t) => {
  const places = find(all, (node) => ts.isExportAssignment(node));
  t.deepEqual(
    places.filter((place) => !/\.config\.js:/.test(place)),
    [],
  );
});

test('a catch that goes on says why', (t) => {
  const isSilent = (node: ts.Node) =>
    ts.isCatchClause(node) && node.block.statements.length === 0 && !/\/\/ \S/.test(node.block.getText());
  t.deepEqual(find(all, isSilent), []);
});

test('files and functions stay below their longest; tables in tests are not counted', (t) => {
  const files = all
    .filter(({ text }) => text.trimEnd().split('\n').length > longest.file)
    .map(({ path }) => path);
  t.deepEqual(files, []);
  t.deepEqual(find(all, isLongFunction), []);
});

test('no folder has a name that says nothing, and all names are in kebab case', (t) => {
  const paths = ['server', 'runner', 'shared', 'test', 'bench'].flatMap(foldersAndFiles);
  const bad = paths.filter(
    (path) => forbiddenFolders.includes(basename(path)) || !/^[a-z0-9][a-z0-9.-]*$/.test(basename(path)),
  );
  t.deepEqual(bad, []);
});

function breaksRule(path: string, { target, isOurs, isType }: Import): boolean {
  const folder = posix.dirname(path);
  if (!isOurs || isTop(folder) || posix.dirname(target) === folder) return false;
  const rule = folderRules[folder];
  if (!rule) return true;
  return !isWithin(target, rule.may) && !(isType && isWithin(target, rule.types ?? []));
}

/** Whether a file is one of these files, or directly in one of these folders. */
function isWithin(path: string, places: string[]): boolean {
  return places.includes(path) || places.includes(posix.dirname(path));
}

function isTop(folder: string): boolean {
  return folder === 'server' || folder === 'runner';
}

function part(path: string): string {
  return path.split('/', 1)[0] ?? '';
}

function shown({ place, target }: Import): string {
  return `${place} imports ${target}`;
}

function fileOf(place: string): string {
  return place.replace(/:\d+$/, '');
}

function importsOf(file: SourceFile): Import[] {
  const found: Import[] = [];
  walk(file.tree(), (node) => {
    const name = importedName(node);
    if (name === null) return;
    const isOurs = name.startsWith('.');
    const target = isOurs ? posix.join(posix.dirname(file.path), name) : packageOf(name);
    found.push({ target, isOurs, isType: isTypeImport(node), place: placeOf(file, node) });
  });
  return found;
}

function importedName(node: ts.Node): string | null {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return textOf(node.moduleSpecifier);
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return textOf(node.arguments[0]);
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return textOf(node.argument.literal);
  return null;
}

function textOf(node: ts.Node | undefined): string | null {
  return node && ts.isStringLiteral(node) ? node.text : null;
}

/** `pg/lib/x` → `pg`, `@koa/router` as it is. */
function packageOf(name: string): string {
  return name.startsWith('node:')
    ? name
    : name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/');
}

function isTypeImport(node: ts.Node): boolean {
  if (ts.isImportTypeNode(node)) return true;
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  if (!ts.isImportDeclaration(node)) return false;
  const clause = node.importClause;
  if (clause?.isTypeOnly) return true;
  const bindings = clause?.namedBindings;
  if (clause?.name || !bindings || !ts.isNamedImports(bindings)) return false;
  return bindings.elements.length > 0 && bindings.elements.every((element) => element.isTypeOnly);
}

function isProcessEnvironment(node: ts.Node): boolean {
  return (
    ts.isPropertyAccessExpression(node) && node.name.text === 'env' && node.expression.getText() === 'process'
  );
}

function isLongFunction(node: ts.Node): boolean {
  if (!ts.isFunctionLike(node)) return false;
  const isTest = node.getSourceFile().fileName.endsWith('.test.ts');
  return linesOf(node) - (isTest ? linesOfTables(node) : 0) > longest.function;
}

function linesOf(node: ts.Node): number {
  const source = node.getSourceFile();
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  return lineAt(node.end) - lineAt(node.getStart()) + 1;
}

/** Lines that a function would not have if each table of expected values in it were one line. */
function linesOfTables(node: ts.Node): number {
  let lines = 0;
  ts.forEachChild(node, (child) => {
    const isTable = ts.isObjectLiteralExpression(child) || ts.isArrayLiteralExpression(child);
    lines += isTable && !hasFunction(child) ? linesOf(child) - 1 : linesOfTables(child);
  });
  return lines;
}

function hasFunction(node: ts.Node): boolean {
  let isFound = false;
  walk(node, (inner) => {
    isFound ||= ts.isFunctionLike(inner);
  });
  return isFound;
}

/** `file:line` of every node that a test is true of. */
function find(files: SourceFile[], isFound: (node: ts.Node) => boolean): string[] {
  return files.flatMap((file) => {
    const places: string[] = [];
    walk(file.tree(), (node) => {
      if (isFound(node)) places.push(placeOf(file, node));
    });
    return places;
  });
}
