import test from 'ava';

test('passes', (t) => t.pass());
