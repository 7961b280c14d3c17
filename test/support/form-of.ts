import { formType } from './raw-http.ts';

export interface SmallPart {
  name: string;
  /** Makes it a file. */
  filename?: string;
  content: string;
}

/** Headers and body of a multipart request, for parts that are texts. */
export function formOf(...parts: SmallPart[]): { headers: Record<string, string>; body: string } {
  const boundary = formType.split('=')[1];
  const texts = parts.map(({ name, filename, content }) => {
    const file = filename === undefined ? '' : `; filename="${filename}"`;
    return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${content}\r\n`;
  });
  return { headers: { 'Content-Type': formType }, body: `${texts.join('')}--${boundary}--\r\n` };
}
