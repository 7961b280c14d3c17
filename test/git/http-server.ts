import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { GitError } from '../../server/git/errors.ts';
import { type PushHead, readCommands } from '../../server/git/push-commands.ts';
import { decodeBody } from '../../server/git/request-body.ts';
import type { GitEnd } from '../../server/git/run-git.ts';
import {
  advertiseRefs,
  type GitService,
  receivePack,
  smartHttpHeaders,
  uploadPack,
} from '../../server/git/smart-http.ts';

export interface Seen {
  url: string;
  protocol: string | undefined;
  encoding: string | undefined;
  authorization: string | undefined;
  push?: PushHead;
  done?: Promise<GitEnd>;
}

export interface TestServer {
  url: string;
  seen: Seen[];
  close(): Promise<void>;
}

export interface TestServerOptions {
  dir: string;
  /** The identity's e-mail of the pushes, in their order. */
  email?: (push: number) => string;
  /** Answers a request in place of the server; false leaves it to that. */
  instead?: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;
}

/** The smallest server around the functions under test: one repository at `/r.git`, open to everybody. */
export async function serveGit(options: TestServerOptions): Promise<TestServer> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    answer(request, response, { ...options, seen }).catch((error: GitError) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return { url: `http://127.0.0.1:${port}/r.git`, seen, close };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { dir, email, instead, seen }: TestServerOptions & { seen: Seen[] },
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const signal = gone.signal;
  const url = new URL(request.url ?? '', 'http://localhost');
  const protocol = request.headers['git-protocol']?.toString();
  const encoding = request.headers['content-encoding'];
  const gzip = encoding === 'gzip';
  const { authorization } = request.headers;
  const call: Seen = { url: url.pathname, protocol, encoding, authorization };
  seen.push(call);
  if (await instead?.(request, response)) return;
  if (url.pathname.endsWith('/info/refs')) {
    const service = url.searchParams.get('service') as GitService;
    const { headers, body } = await advertiseRefs({ dir, service, protocol, signal });
    response.writeHead(200, headers);
    await pipeline(body, response);
    return;
  }
  const service = url.pathname.split('/').at(-1) as GitService;
  response.writeHead(200, smartHttpHeaders(service, 'result'));
  if (service === 'git-upload-pack') {
    await pipeline(uploadPack({ dir, body: request, protocol, gzip, signal }), response);
    return;
  }
  const { replay, ...head } = await readCommands(decodeBody(request, { gzip }));
  call.push = head;
  const count = seen.filter(({ push }) => push && push.commands.length > 0).length;
  const identity = { name: 'Push', email: email?.(count) ?? `push-${count}` };
  const { output, done } = receivePack({ dir, body: replay, protocol, identity, signal });
  call.done = done;
  await pipeline(output, response);
}
