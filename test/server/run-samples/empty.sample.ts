import test from 'ava';

test.skip('is skipped', (t) => t.pass());
