import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import test from 'ava';
import fc from 'fast-check';
import { flushPkt, pktLine, readPktLine } from '../../server/git/pkt-line.ts';
import { sideBand, withMessages } from '../../server/git/push-messages.ts';

const banded = ['report-status', 'side-band-64k'];

function answer(chunks: Buffer[], capabilities: string[], lines: string[]): Promise<Buffer> {
  const messages = async () => lines;
  const parts = withMessages(Readable.from(chunks) as AsyncIterable<Buffer>, { capabilities, messages });
  return buffer(Readable.from(parts));
}

function cutAt(bytes: Buffer, places: number[]): Buffer[] {
  const cuts = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
}

test('messages come before the end, wherever the answer was cut', async (t) => {
  const report = Buffer.concat([
    pktLine(Buffer.from('\x01000eunpack ok\n0000')),
    pktLine(Buffer.from('\x02hint\n')),
  ]);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { maxLength: 6 }), async (places) => {
      const got = await answer(cutAt(Buffer.concat([report, flushPkt]), places), banded, ['one', 'ö']);
      return got.equals(Buffer.concat([report, pktLine('\x02one\nö\n'), flushPkt]));
    }),
  );
  t.pass();
});

test('nothing is added for a client without side band, without lines, or to what is no protocol', async (t) => {
  const plain = Buffer.concat([pktLine('unpack ok\n'), flushPkt]);
  t.deepEqual(await answer([plain], ['report-status'], ['one']), plain);
  t.deepEqual(await answer([plain], banded, []), plain);
  t.deepEqual(await answer([], banded, ['one']), Buffer.alloc(0));
  for (const odd of ['hello', '0001', 'zzzz0000', '000aab']) {
    t.is((await answer([Buffer.from(odd)], banded, ['one'])).toString(), odd);
  }
});

test('the end waits for the messages, what comes before it does not', async (t) => {
  let tell: (lines: string[]) => void = () => undefined;
  const told = new Promise<string[]>((resolve) => {
    tell = resolve;
  });
  const report = pktLine(Buffer.from('\x01000eunpack ok\n0000'));
  const chunks = Readable.from([report, flushPkt]) as AsyncIterable<Buffer>;
  const parts = withMessages(chunks, { capabilities: banded, messages: () => told });
  t.deepEqual((await parts.next()).value, report);
  const rest = buffer(Readable.from(parts));
  tell(['late']);
  t.is((await rest).toString(), `${pktLine('\x02late\n')}0000`);
});

test('long bytes are spread over several packets', (t) => {
  const bytes = Buffer.alloc(150_000, 'x');
  const packets = sideBand(bytes, 'report');
  t.is(packets.length, 3);
  const payloads = packets.map((packet) => readPktLine(packet, 0)?.payload ?? Buffer.alloc(0));
  t.true(payloads.every((payload) => payload[0] === 1));
  t.deepEqual(Buffer.concat(payloads.map((payload) => payload.subarray(1))), bytes);
});
