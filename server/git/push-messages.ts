import { GitProtocolError } from './errors.ts';
import { flushPkt, pktLine, readPktLine } from './pkt-line.ts';

/** Bytes of text in one packet, beside the length and the number of the band. */
const bandSize = 65_515;
const reportBand = 1;
const messageBand = 2;

/** Frames bytes for a client that reads report and messages side by side. */
export function sideBand(bytes: Buffer, band: 'report' | 'messages'): Buffer[] {
  const number = Buffer.from([band === 'report' ? reportBand : messageBand]);
  const count = Math.ceil(bytes.length / bandSize);
  return Array.from({ length: count }, (_, index) =>
    pktLine(Buffer.concat([number, bytes.subarray(index * bandSize, (index + 1) * bandSize)])),
  );
}

/**
 * Passes git's answer to a push on, all but its end, which waits for the messages: git shows them to its user as
 * `remote:` lines. A client without side band gets none, but its answer does not end earlier.
 *
 * @param messages lines to show; waited for once git has ended.
 */
export async function* withMessages(
  output: AsyncIterable<Buffer>,
  { capabilities, messages }: { capabilities: string[]; messages: () => Promise<string[]> },
): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of output) {
    held = Buffer.concat([held, chunk]);
    const end = endOfPackets(held);
    if (end > 0) yield held.subarray(0, end);
    held = held.subarray(end);
  }
  const lines = await messages();
  if (capabilities.includes('side-band-64k') && held.equals(flushPkt)) {
    yield* sideBand(Buffer.from(lines.map((line) => `${line}\n`).join('')), 'messages');
  }
  if (held.length > 0) yield held;
}

/** Where the last whole packet ends, a flush at the very end not counted. */
function endOfPackets(buffer: Buffer): number {
  let end = 0;
  try {
    for (let line = readPktLine(buffer, 0); line; line = readPktLine(buffer, end)) {
      if (line.payload === null && line.next === buffer.length) return end;
      end = line.next;
    }
    return end;
  } catch (error) {
    // Whatever this is, it is git's word to its client.
    if (error instanceof GitProtocolError) return buffer.length;
    throw error;
  }
}
