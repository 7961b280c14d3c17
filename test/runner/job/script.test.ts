import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import fc from 'fast-check';
import {
  mainItems,
  quote,
  type ScriptRequest,
  scriptItems,
  shellProgram,
} from '../../../runner/job/script.ts';

const execute = promisify(execFile);
const shells = ['bash', 'sh'];

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

async function run(shell: string, program: string): Promise<Ended> {
  const child = execute(shell, ['-c', program], { env: { PATH: process.env.PATH }, maxBuffer: 2 ** 26 });
  child.child.stdin?.end();
  return child.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: Ended) => error,
  );
}

function program(texts: string[], more: Partial<ScriptRequest> = {}): string {
  return shellProgram({ items: scriptItems(texts), variables: [], directory: '/tmp', ...more });
}

/** The output without what the program says of itself. */
function withoutEcho(stdout: string): string {
  return stdout
    .split('\n')
    .filter((line) => !line.startsWith('\x1b[32;1m$ '))
    .join('\n');
}

for (const shell of shells) {
  test(`${shell}: any text survives quoting`, async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary' }), { maxLength: 20 }), async (texts) => {
        const values = texts.map((text) => text.replaceAll('\0', '').toString());
        const { stdout } = await run(shell, `printf '%s\\001' ${[...values.map(quote), "''"].join(' ')}`);
        const wanted = Buffer.from(`${[...values, ''].join('\u0001')}\u0001`).toString();
        t.is(stdout, wanted);
      }),
      { numRuns: 40 },
    );
  });

  test(`${shell}: variables reach the commands, whatever they hold`, async (t) => {
    const value = `it's $HOME \`date\` "x"\nsecond\\line\t!`;
    const variables = [{ key: 'VALUE', value, public: true }];
    const { stdout } = await run(shell, program(['printenv VALUE'], { variables }));
    t.is(withoutEcho(stdout), `${value}\n`);
  });

  test(`${shell}: names that a shell cannot hold are left out`, async (t) => {
    const variables = ['1a', 'a-b', 'UID', 'PPID', 'SHELLOPTS', 'a b', 'x;exit 9'].map((key) => ({
      key,
      value: '1',
      public: true,
    }));
    t.is((await run(shell, program(['true'], { variables }))).code, 0);
  });

  test(`${shell}: directory, variables and functions last from item to item`, async (t) => {
    const { stdout } = await run(shell, program(['cd /usr', 'x=1', 'f() { echo "f$x"; }', 'f', 'pwd']));
    t.is(withoutEcho(stdout), 'f1\n/usr\n');
  });

  test(`${shell}: the first command that fails ends it with its code`, async (t) => {
    const ended = await run(
      shell,
      program(['echo one', 'echo two; sh -c "exit 7"; echo three', 'echo four']),
    );
    t.is(ended.code, 7);
    t.is(withoutEcho(ended.stdout), 'one\ntwo\n');
  });

  test(`${shell}: a condition that does not hold is no failure`, async (t) => {
    const ended = await run(
      shell,
      program(['false && echo never', 'if false; then\necho never\nfi', 'echo on']),
    );
    t.is(ended.code, 0);
    t.is(withoutEcho(ended.stdout), 'on\n');
  });

  test(`${shell}: here-documents, continued lines and quotes over lines work`, async (t) => {
    const items = ['cat <<END\na $((1 + 1))\nEND', 'echo b \\\n  c', "echo 'd\ne'"];
    const { stdout, code } = await run(shell, program(items));
    t.is(code, 0);
    t.is(withoutEcho(stdout), 'a 2\nb c\nd\ne\n');
  });

  test(`${shell}: a syntax error ends the program at its item`, async (t) => {
    const ended = await run(shell, program(['echo first', 'echo "open', 'echo last']));
    t.not(ended.code, 0);
    t.is(withoutEcho(ended.stdout), 'first\n');
  });

  test(`${shell}: commands find nothing on their standard input`, async (t) => {
    const { stdout, code } = await run(shell, program(['cat', 'read -r line || echo empty']));
    t.is(code, 0);
    t.is(withoutEcho(stdout), 'empty\n');
  });

  test(`${shell}: the exit code given by the script is the result`, async (t) => {
    t.is((await run(shell, program(['exit 3', 'true']))).code, 3);
  });

  test(`${shell}: each item shows its first line`, async (t) => {
    const { stdout } = await run(shell, program(["echo 'a b'", '\nx=1\necho $x\n']));
    t.true(stdout.startsWith("\x1b[32;1m$ echo 'a b'\x1b[0m\na b\n"));
    t.true(stdout.includes('\x1b[32;1m$ x=1 # collapsed multi-line command\x1b[0m\n1\n'));
  });

  test(`${shell}: the program starts in the project directory, whatever it is called`, async (t) => {
    const directory = await mkdtemp(join(tmpdir(), "hearth it's "));
    t.teardown(() => rm(directory, { recursive: true }));
    const { stdout } = await run(shell, program(['pwd'], { directory }));
    t.is(withoutEcho(stdout), `${directory}\n`);
  });
}

test('bash: a failure inside a pipe counts', async (t) => {
  t.not((await run('bash', program(['false | true', 'true']))).code, 0);
});

test('with CI_DEBUG_TRACE the shell shows what it runs', async (t) => {
  const variables = [{ key: 'CI_DEBUG_TRACE', value: 'true', public: true }];
  const { stderr } = await run('sh', program(['x=5', 'echo "$x"'], { variables }));
  t.true(stderr.includes('+ echo 5'));
});

test('without items from the server the joined commands run as one', async (t) => {
  const items = mainItems({ commands: 'for i in 1 2; do\n  echo "i$i"\ndone' });
  const { stdout } = await run('sh', shellProgram({ items, variables: [], directory: '/tmp' }));
  t.is(withoutEcho(stdout), 'i1\ni2\n');
  t.is(stdout.split('\x1b[32;1m$ ').length, 4);
});

test('a build without commands succeeds', async (t) => {
  t.is((await run('sh', program([]))).code, 0);
  t.deepEqual(mainItems({ commands: '\n' }), []);
});
