import { flushPkt, pktLine } from './pkt-line.ts';
import type { PushCommand, PushHead } from './push-commands.ts';
import { sideBand } from './push-messages.ts';

/**
 * The answer to a push that never reaches git: every ref is refused for the given reason, one line each on
 * the client's screen. The caller has to read the rest of the body first, or the client will not listen.
 */
export function refusePush(head: PushHead, reason: (command: PushCommand) => string): Buffer {
  const lines = head.commands.map((command) => {
    const { ref, rawRef } = command;
    const name = rawRef === undefined ? Buffer.from(ref) : Buffer.from(rawRef, 'latin1');
    const text = reason(command).replace(/\s+/g, ' ');
    return pktLine(Buffer.concat([Buffer.from('ng '), name, Buffer.from(` ${text}\n`)]));
  });
  const report = Buffer.concat([pktLine('unpack ok\n'), ...lines, flushPkt]);
  if (!head.capabilities.includes('side-band-64k')) return report;
  return Buffer.concat([...sideBand(report, 'report'), flushPkt]);
}
