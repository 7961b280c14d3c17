import test from 'ava';

test('hangs', async () => {
  process.stderr.write(`process ${process.pid}\n`);
  await new Promise((resolve) => setTimeout(resolve, 100_000));
});
