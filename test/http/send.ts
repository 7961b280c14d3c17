import { type IncomingHttpHeaders, request } from 'node:http';

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface RawRequest {
  method?: string;
  /** Sent as it is, which `fetch` would not do. */
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/** One request over a connection of its own, on any method and with any target and headers. */
export function send(
  url: string,
  { method = 'GET', path, headers = {}, body }: RawRequest,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const options = { hostname, port, method, path, headers: { ...length, ...headers }, agent: false };
    const sent = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

export interface FormPart {
  name: string;
  value: string;
  filename?: string;
}

/** A multipart body and its content type. */
export function multipart(parts: FormPart[]): { body: string; type: string } {
  const boundary = 'border-of-parts';
  const text = parts.map(({ name, value, filename }) => {
    const file = filename === undefined ? '' : `; filename="${filename}"`;
    return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
  });
  return { body: `${text.join('')}--${boundary}--\r\n`, type: `multipart/form-data; boundary=${boundary}` };
}
