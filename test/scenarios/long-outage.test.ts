import test from 'ava';
import { withOutage } from './outage.ts';

const seconds = 300;
const survive = withOutage();

test('a build that ends while its server is away for five minutes is reported afterwards', async (t) => {
  t.timeout((seconds + 300) * 1000);
  await survive(t, { seconds, endsMeanwhile: true });
});
