import { invalid, missing, notText } from '../errors.ts';
import { choice, optional, type Param, rawText } from '../http/params.ts';

/** In which form a content is sent; text unless told. */
export const encoding = () => optional(choice(['text', 'base64']));

/** A content as it was sent, whatever stands in it. An empty one is as good as none where it is `required`. */
export function content({ mayBeEmpty = false } = {}): Param<string> {
  const raw = rawText();
  return {
    ...raw,
    read(given, name) {
      const text = raw.read(given, name);
      if (text === '' && !mayBeEmpty) throw missing(name);
      return text;
    },
  };
}

/**
 * The bytes of a file. Lines of a text end as git stores them.
 *
 * @param name of the parameter, for the fault.
 * @throws AppError 400 for a text that has no bytes, or base64 that is none.
 */
export function readContent(text: string, encoding: 'text' | 'base64' | undefined, name: string): Buffer {
  if (encoding !== 'base64') {
    if (!text.isWellFormed()) throw notText();
    return Buffer.from(text.replaceAll('\r\n', '\n'));
  }
  // Many clients break its lines.
  const plain = text.replace(/[\r\n]+/g, '');
  const bytes = Buffer.from(plain, 'base64');
  if (bytes.toString('base64') !== plain) throw invalid({ [name]: ['is not valid base64'] });
  return bytes;
}
