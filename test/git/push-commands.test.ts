import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import test from 'ava';
import fc from 'fast-check';
import { GitProtocolError } from '../../server/git/errors.ts';
import { flushPkt, pktLine } from '../../server/git/pkt-line.ts';
import { PushHeadReader, readCommands } from '../../server/git/push-commands.ts';
import { refusePush } from '../../server/git/refuse-push.ts';

const zero = '0'.repeat(40);
const one = '1'.repeat(40);

const sha = fc.stringMatching(/^[0-9a-f]{40}$/);
const word = fc.stringMatching(/^[a-z0-9=./-]{1,20}$/);
const ref = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
  .map((text) => `refs/heads/${text.replace(/[\0\n]/g, 'x')}`);
const head = fc.record({
  commands: fc.array(fc.record({ oldSha: sha, newSha: sha, ref }), { minLength: 1, maxLength: 8 }),
  capabilities: fc.array(word, { maxLength: 5 }),
  pushOptions: fc.option(fc.array(word, { maxLength: 4 })),
  shallow: fc.array(sha, { maxLength: 3 }),
});

function bodyOf(value: typeof head extends fc.Arbitrary<infer T> ? T : never, rest: Uint8Array): Buffer {
  const capabilities = [...value.capabilities, ...(value.pushOptions ? ['push-options'] : [])].join(' ');
  const commands = value.commands.map(({ oldSha, newSha, ref }, index) =>
    pktLine(`${oldSha} ${newSha} ${ref}${index === 0 ? `\0 ${capabilities}` : ''}`),
  );
  const options = value.pushOptions?.map((option) => pktLine(option));
  return Buffer.concat([
    ...value.shallow.map((commit) => pktLine(`shallow ${commit}`)),
    ...commands,
    flushPkt,
    ...(options ? [...options, flushPkt] : []),
    rest,
  ]);
}

function* split(bytes: Buffer, sizes: number[]): Generator<Buffer> {
  let offset = 0;
  for (let index = 0; offset < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    yield bytes.subarray(offset, offset + size);
    offset += size;
  }
}

const sizes = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 });

test('commands are read, and every byte is replayed, however the body is cut', async (t) => {
  await fc.assert(
    fc.asyncProperty(head, fc.uint8Array({ maxLength: 500 }), sizes, async (value, rest, cuts) => {
      const body = bodyOf(value, rest);
      const { replay, ...read } = await readCommands(Readable.from(split(body, cuts)));
      const added = value.pushOptions ? ['push-options'] : [];
      const capabilities = [...value.capabilities, ...added];
      t.deepEqual(read, { ...value, capabilities, pushOptions: value.pushOptions ?? [] });
      t.deepEqual(await buffer(replay), body);
    }),
  );
});

test('bytes that are no push are refused by a typed error, or wait for more', (t) => {
  const lengths = fc.constantFrom(
    '0000',
    '0004',
    '0001',
    '0003',
    '00',
    'ffff',
    'zzzz',
    '0032',
    `0068${zero} ${one} `,
  );
  const part = fc.oneof(
    lengths.map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 30 }),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      try {
        new PushHeadReader().push(Buffer.concat(parts));
        return true;
      } catch (error) {
        return error instanceof GitProtocolError;
      }
    }),
    { numRuns: 2000 },
  );
  t.pass();
});

for (const [name, bytes] of Object.entries({
  'an empty body': Buffer.alloc(0),
  'a body that ends in a line': pktLine(`${zero} ${one} refs/heads/a\0`).subarray(0, 50),
  'a body without its flush': pktLine(`${zero} ${one} refs/heads/a\0`),
  'push options that do not end': Buffer.concat([
    pktLine(`${zero} ${one} refs/heads/a\0push-options`),
    flushPkt,
  ]),
  'an empty line': Buffer.from('00040000'),
  'a delimiter': Buffer.from('00010000'),
  'a signed push, which is not offered': Buffer.concat([pktLine('push-cert\0'), flushPkt]),
  'a short id': Buffer.concat([pktLine(`${zero} 1234 refs/heads/a\0`), flushPkt]),
})) {
  test(`${name} is refused`, async (t) => {
    await t.throwsAsync(readCommands(Readable.from([bytes])), { instanceOf: GitProtocolError });
  });
}

test('more refs than allowed are refused, and the source can still be read to its end', async (t) => {
  const line = pktLine(`${zero} ${one} refs/heads/a\0`);
  const source = Readable.from(Array.from({ length: 50 }, () => line));
  await t.throwsAsync(readCommands(source, { limit: 1000 }), { instanceOf: GitProtocolError });
  t.false(source.destroyed);
  source.resume();
  await new Promise((resolve) => source.once('end', resolve));
});

test('a bare flush is a push of nothing', async (t) => {
  const { commands, replay } = await readCommands(Readable.from([flushPkt]));
  t.deepEqual(commands, []);
  t.is((await buffer(replay)).toString(), '0000');
});

test('a source that breaks after the commands breaks the replay', async (t) => {
  async function* breaking() {
    yield Buffer.concat([pktLine(`${zero} ${one} refs/heads/a\0`), flushPkt]);
    throw new Error('gone');
  }
  const { replay } = await readCommands(Readable.from(breaking()));
  await t.throwsAsync(buffer(replay), { message: 'gone' });
});

test('a name that is no UTF-8 is read, and refused under its own bytes', async (t) => {
  const bytes = Buffer.concat([Buffer.from(`${zero} ${one} refs/heads/`), Buffer.from([0xe9, 0xff])]);
  const { commands, capabilities } = await readCommands(Readable.from([pktLine(bytes), flushPkt]));
  const rawRef = 'refs/heads/\u00e9\u00ff';
  t.deepEqual(commands, [{ oldSha: zero, newSha: one, ref: rawRef, rawRef }]);
  const head = { commands, capabilities, pushOptions: [], shallow: [] };
  t.true(refusePush(head, () => 'no').includes(Buffer.from(`ng ${rawRef} no\n`, 'latin1')));
});

test('a refusal names each ref with its reason, as the client’s capabilities ask', (t) => {
  const commands = [{ oldSha: zero, newSha: one, ref: 'refs/heads/a' }];
  const plain = { commands, capabilities: ['report-status'], pushOptions: [], shallow: [] };
  const report = '000eunpack ok\n0025ng refs/heads/a you may not push\n0000';
  t.is(refusePush(plain, () => 'you may\nnot push').toString(), report);
  const banded = refusePush({ ...plain, capabilities: ['side-band-64k'] }, () => 'no').toString();
  t.is(
    banded,
    `${(4 + 1 + 14 + 23 + 4).toString(16).padStart(4, '0')}\x01000eunpack ok\n0017ng refs/heads/a no\n00000000`,
  );
});
