import Router from '@koa/router';
import test from 'ava';
import { apiEndpoints } from '../../server/api/index.ts';
import { apiPrefix, runnerPrefix } from '../../server/app.ts';
import { IndexedRouter } from '../../server/http/indexed-router.ts';
import { runnerEndpoints } from '../../server/runner-api/index.ts';

const names = ['1', 'builds', 'a%2Fb', 'PROJECTS'];
const openNames = [...names, 'a/b', 'builds/1/projects'];
const methods = ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH'];
const nowhere = [
  '',
  '/',
  '/projects',
  '/nothing',
  '/projects/1/nothing',
  '/projects//builds',
  '/a/b/c/d/e/f',
];

for (const [prefix, endpoints] of [
  [apiPrefix, apiEndpoints],
  [runnerPrefix, runnerEndpoints],
] as const) {
  test(`finds the routes below ${prefix} that a search of all of them finds, in their order`, (t) => {
    const [plain, indexed] = [new Router({ prefix }), new IndexedRouter(prefix)];
    for (const router of [plain, indexed]) {
      for (const { path, method } of endpoints) router.register(path, [method], () => undefined);
    }
    const found = (router: Router, path: string, method: string) => {
      const { path: matched, pathAndMethod, route } = router.match(path, method);
      const shown = (layers: typeof matched) => layers.map((layer) => [layer.path, layer.methods]);
      return { matched: shown(matched), pathAndMethod: shown(pathAndMethod), route };
    };
    const paths = [...endpoints.flatMap((one) => pathsOf(one.path)), ...nowhere].map((path) => prefix + path);
    let hits = 0;
    for (const path of [...paths, ...paths.map((one) => one.toUpperCase()), '', '/', '/x']) {
      for (const method of methods) {
        const inAll = found(plain, path, method);
        t.deepEqual(found(indexed, path, method), inAll, `${method} ${path}`);
        hits += inAll.route ? 1 : 0;
      }
    }
    t.true(hits > endpoints.length);
  });
}

/** Paths that a declared one may stand for. */
function pathsOf(declared: string): string[] {
  return openNames.map((open, at) =>
    declared.replace(/\*\w+/g, open).replace(/:\w+/g, names[at % names.length] ?? ''),
  );
}
