import type { Readable } from 'node:stream';
import { StreamAnswer } from './answers.ts';
import { shownHeaders } from './shown-headers.ts';

/**
 * What somebody wrote, as plain text whatever it is, so that nothing in it runs in the browser of whoever looks at it.
 *
 * @param size in bytes.
 * @param disposition the header, as `contentDisposition` makes it.
 */
export function shownText(
  stream: Readable,
  { size, disposition }: { size: number; disposition: string },
): StreamAnswer {
  return new StreamAnswer(stream, shownHeaders({ type: 'text/plain', size, disposition }));
}
