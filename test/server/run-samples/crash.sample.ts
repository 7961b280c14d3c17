import test from 'ava';

test('passes', (t) => t.pass());
test.after(() => process.exit(3));
