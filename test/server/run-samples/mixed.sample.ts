import test from 'ava';

test('passes', (t) => t.regex(process.env.HEARTH_TEST_DATABASE_URL ?? '', /^postgres:/));
test('passes too', (t) => t.regex(process.env.HEARTH_TEST_DOCKER ?? '', /^0$/));
test('fails', (t) => t.fail());
test.skip('is skipped', (t) => t.pass());
