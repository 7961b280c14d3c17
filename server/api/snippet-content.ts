import { Readable } from 'node:stream';
import type { StreamAnswer } from '../http/answers.ts';
import { contentDisposition } from '../http/content-disposition.ts';
import { text } from '../http/params.ts';
import { shownText } from '../http/shown-text.ts';

/** A content as long as a body of a request can carry, with room for the rest. */
export const snippetContent = () => text({ max: 1_048_576 });

export function sendSnippet({ file_name, content }: { file_name: string; content: string }): StreamAnswer {
  const bytes = Buffer.from(content);
  return shownText(Readable.from([bytes]), {
    size: bytes.length,
    disposition: contentDisposition('inline', file_name),
  });
}
