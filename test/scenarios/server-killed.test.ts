import test from 'ava';
import { withOutage } from './outage.ts';

const survive = withOutage();

test('a build does not notice that its server was killed and came back', async (t) => {
  await survive(t, { seconds: 5, endsMeanwhile: false });
});
