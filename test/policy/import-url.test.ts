import test from 'ava';
import { readImportUrl } from '../../server/policy/import-url.ts';

test('addresses, and what opens them kept apart', (t) => {
  const right: [string, string, string | null][] = [
    ['http://example.com/r.git', 'http://example.com/r.git', null],
    ['HTTPS://Example.com:8443/a/b', 'https://example.com:8443/a/b', null],
    ['https://ada:p%3Ass@example.com/r.git', 'https://example.com/r.git', 'ada:p:ss'],
    ['https://token@example.com/r.git#x', 'https://example.com/r.git', 'token:'],
    ['git://[::1]:9418/r.git', 'git://[::1]:9418/r.git', null],
    ['ssh://git:secret@example.com/r.git', 'ssh://git@example.com/r.git', null],
  ];
  for (const [text, url, credentials] of right) t.deepEqual(readImportUrl(text), { url, credentials }, text);
});

test('what is no address to import from', (t) => {
  const wrong = [
    '',
    'x',
    'ftp://example.com/r.git',
    'file:///etc',
    '/etc',
    'http://',
    'http:///r.git',
    'ssh://-oProxyCommand=x/r.git',
    'ssh://-x@example.com/r.git',
    'git://exa$(x)mple/r.git',
    'ext::sh -c true',
    'http://example.com/a b',
    'http://example.com/a\nb',
    'http://example.com\\@127.0.0.1/',
    'http://a%0ab:c@example.com/',
    'http://%:c@example.com/',
    'git@example.com:a/b.git',
  ];
  for (const text of wrong) t.is(readImportUrl(text), null, text);
});
