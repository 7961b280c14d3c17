import { fileURLToPath } from 'node:url';
import test from 'ava';
import { Program } from '../support/program.ts';

const log = fileURLToPath(new URL('../../server/log.ts', import.meta.url));

/** Runs some lines of code that have a log, in a process of its own. @returns all lines of the log, read. */
async function linesOf(code: string): Promise<{ msg: string }[]> {
  const script = `import { openLog } from ${JSON.stringify(log)};\nconst log = openLog('info');\n${code}`;
  const program = new Program({
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { PATH: process.env.PATH },
    command: process.execPath,
    args: ['--import', 'tsx', '--input-type=module', '--eval', script],
  });
  await program.ended;
  return program.stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
}

async function messagesOf(code: string): Promise<string[]> {
  return (await linesOf(code)).map(({ msg }) => msg);
}

const counted = 'for (let i = 0; i < 3; i += 1) log.info(String(i));';

test('lines come in order, and none is lost where a process ends in the same turn', async (t) => {
  for (const end of ['', 'process.exit(0);', "throw new Error('unforeseen');"]) {
    t.deepEqual(await messagesOf(`${counted}\n${end}`), ['0', '1', '2'], end);
  }
});

test('lines of later turns follow those of earlier ones', async (t) => {
  const code = `${counted}\nsetTimeout(() => { log.warn('later'); log.info('last'); }, 10);`;
  t.deepEqual(await messagesOf(code), ['0', '1', '2', 'later', 'last']);
});

test('secrets are left out', async (t) => {
  const lines = await linesOf(
    "log.info({ password: 'hidden' }, 'told'); log.info({ a: { token: 'hidden' } }, 'told');",
  );
  t.like(lines[0], { msg: 'told', password: '[redacted]' });
  t.like(lines[1], { msg: 'told', a: { token: '[redacted]' } });
});
