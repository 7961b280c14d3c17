// The limit of clone and push: `bare-backend.ts FOLDER` puts git's own program behind node:http, as its manual says. It has
// the settings that ours has: checking what is pushed, and syncing it, is work of git and not of the server.
import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { gitEnvironment } from '../../server/git/environment.ts';
import { serveBare } from './bare-listen.ts';

const [folder = ''] = process.argv.slice(2);

serveBare(async (request, response) => {
  const child = spawn('git', ['http-backend'], {
    env: environmentOf(request),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await Promise.all([pipeline(request, child.stdin), passOn(child.stdout, response)]);
});

function environmentOf({ method, url = '/', headers }: IncomingMessage): NodeJS.ProcessEnv {
  const { pathname, search } = new URL(url, 'http://bare');
  return {
    ...gitEnvironment({ protocol: headers['git-protocol']?.toString() }),
    GIT_PROJECT_ROOT: folder,
    GIT_HTTP_EXPORT_ALL: '1',
    REMOTE_USER: 'bench',
    REQUEST_METHOD: method,
    PATH_INFO: pathname,
    QUERY_STRING: search.slice(1),
    CONTENT_TYPE: headers['content-type'],
    CONTENT_LENGTH: headers['content-length'],
    HTTP_CONTENT_ENCODING: headers['content-encoding'],
  };
}

/** Its headers come first, up to an empty line. */
async function passOn(output: NodeJS.ReadableStream, response: ServerResponse): Promise<void> {
  let head = Buffer.alloc(0);
  for await (const chunk of output) {
    if (response.headersSent) {
      if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve));
      continue;
    }
    head = Buffer.concat([head, chunk as Buffer]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) continue;
    writeHead(response, head.toString('latin1', 0, end));
    response.write(head.subarray(end + 4));
  }
  response.end();
}

function writeHead(response: ServerResponse, head: string): void {
  const fields = new Map(head.split('\r\n').map((line) => splitField(line)));
  const status = Number.parseInt(fields.get('Status') ?? '200', 10);
  fields.delete('Status');
  response.writeHead(status, Object.fromEntries(fields));
}

function splitField(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}
