import type { Server } from 'node:http';
import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import { methods, serveFrame } from './frame-endpoints.ts';
import { type RawRequest, send } from './send.ts';

const holder = withApp();

let frame: { url: string; server: Server };
test.serial.before(async () => {
  frame = await serveFrame(holder.app.services);
});
test.after.always(() => frame.server.close());

async function ask(request: RawRequest) {
  const answer = await send(frame.url, request);
  return { ...answer, body: answer.text === '' ? null : JSON.parse(answer.text) };
}

interface PageCase {
  query: string;
  items: number;
  /** X-Total, X-Total-Pages, X-Per-Page, X-Page, X-Next-Page, X-Prev-Page. */
  numbers: string[];
  links: Record<string, number>;
}

const pages: Record<string, PageCase> = {
  first: {
    query: 'total=45',
    items: 20,
    numbers: ['45', '3', '20', '1', '2', ''],
    links: { next: 2, first: 1, last: 3 },
  },
  middle: {
    query: 'total=45&page=2',
    items: 20,
    numbers: ['45', '3', '20', '2', '3', '1'],
    links: { prev: 1, next: 3, first: 1, last: 3 },
  },
  last: {
    query: 'total=45&page=3',
    items: 5,
    numbers: ['45', '3', '20', '3', '', '2'],
    links: { prev: 2, first: 1, last: 3 },
  },
  'past the end': {
    query: 'total=45&page=9',
    items: 0,
    numbers: ['45', '3', '20', '9', '', '3'],
    links: { prev: 3, first: 1, last: 3 },
  },
  empty: {
    query: 'total=0',
    items: 0,
    numbers: ['0', '0', '20', '1', '', ''],
    links: { first: 1, last: 1 },
  },
  'page 0': {
    query: 'total=1&page=0&per_page=0',
    items: 1,
    numbers: ['1', '1', '20', '1', '', ''],
    links: { first: 1, last: 1 },
  },
  'page -1': {
    query: 'total=1&page=-1&per_page=-1',
    items: 1,
    numbers: ['1', '1', '20', '1', '', ''],
    links: { first: 1, last: 1 },
  },
  'size 101': {
    query: 'total=101&per_page=101',
    items: 100,
    numbers: ['101', '2', '100', '1', '2', ''],
    links: { next: 2, first: 1, last: 2 },
  },
  'exactly full': {
    query: 'total=40&page=2',
    items: 20,
    numbers: ['40', '2', '20', '2', '', '1'],
    links: { prev: 1, first: 1, last: 2 },
  },
  'far out': {
    query: 'total=3&page=99999999999999999999',
    items: 0,
    numbers: ['3', '1', '20', '1000000000000', '', '1'],
    links: { prev: 1, first: 1, last: 1 },
  },
};

const pageHeaders = ['x-total', 'x-total-pages', 'x-per-page', 'x-page', 'x-next-page', 'x-prev-page'];

function linksOf(header: string): Record<string, URL> {
  const links: Record<string, URL> = {};
  for (const part of header.split(', ')) {
    const match = /^<([^<>,]+)>; rel="(\w+)"$/.exec(part);
    if (!match) throw new Error(`no link: ${part}`);
    links[match[2] ?? ''] = new URL(match[1] ?? '');
  }
  return links;
}

for (const [name, page] of Object.entries(pages)) {
  test(`headers of a page: ${name}`, async (t) => {
    const answer = await ask({ path: `/t/list?${page.query}` });
    t.is(answer.status, 200);
    t.is(answer.body.length, page.items);
    t.deepEqual(
      pageHeaders.map((header) => answer.headers[header]),
      page.numbers,
    );
    const links = linksOf(String(answer.headers.link));
    const numbers = Object.entries(links).map(([rel, url]) => [rel, Number(url.searchParams.get('page'))]);
    t.deepEqual(Object.fromEntries(numbers), page.links);
    t.deepEqual(Object.keys(links), Object.keys(page.links), 'in this order');
    for (const url of Object.values(links)) t.is(url.searchParams.get('per_page'), page.numbers[2] ?? '');
  });
}

test('links are absolute, on the host that the client used, and repeat its parameters without credentials', async (t) => {
  const secrets = `private_token=${rootToken}&access_token=t&sudo=root&token=t&password=p`;
  const path = `/t/list?total=45&scope[]=b&scope[]=a&q=x%2C+%26y&${secrets}`;
  const answer = await ask({ path, headers: { Host: 'forge.example:8080' } });
  const { next } = linksOf(String(answer.headers.link));
  t.is(next?.origin, 'http://forge.example:8080');
  t.is(next?.pathname, '/t/list');
  t.deepEqual(
    [...(next?.searchParams ?? [])],
    [
      ['page', '2'],
      ['per_page', '20'],
      ['q', 'x, &y'],
      ['scope[]', 'b'],
      ['scope[]', 'a'],
      ['total', '45'],
    ],
  );
  t.false(answer.headers.link?.includes(rootToken));
  const followed = await ask({ path: `${next?.pathname}${next?.search}` });
  t.is(followed.headers['x-page'], '2');
});

test('links that would be longer than clients can read are left out', async (t) => {
  const answer = await ask({ path: `/t/list?total=45&q=${'x'.repeat(3000)}` });
  t.is(answer.headers.link, undefined);
  t.is(answer.headers['x-next-page'], '2');
});

test('links start with the configured address where there is one, or when the host is no host', async (t) => {
  const { services } = holder.app;
  const fixed = await serveFrame({ ...services, baseUrl: 'https://forge.example', baseUrlFixed: true });
  t.teardown(() => fixed.server.close());
  const answer = await send(fixed.url, { path: '/t/list?total=0' });
  t.is(linksOf(String(answer.headers.link)).first?.origin, 'https://forge.example');
  const odd = await ask({ path: '/t/list?total=0', headers: { Host: 'a/b?c>' } });
  t.is(linksOf(String(odd.headers.link)).first?.origin, services.baseUrl);
});

test('a create that is documented as 200 is a 201 when the setting says so', async (t) => {
  const { services } = holder.app;
  const other = await serveFrame({ ...services, createStatus: '201' });
  t.teardown(() => other.server.close());
  t.is((await ask({ method: 'POST', path: '/t/labels' })).status, 200);
  t.is((await send(other.url, { method: 'POST', path: '/t/labels' })).status, 201);
  for (const method of methods) {
    t.is((await send(other.url, { method, path: '/t/echo/1' })).status, 200, method);
  }
});

test('links leave out what no list is asked by, such as maps', async (t) => {
  const { status, headers } = await ask({ path: '/t/list?total=45&a[][b]=1&c[]=2' });
  t.is(status, 200);
  t.regex(String(headers.link), /c%5B%5D=2/);
  t.notRegex(String(headers.link), /a%5B/);
});
