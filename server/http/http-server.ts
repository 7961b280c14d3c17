import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A connection on which nothing moves for so long is closed; longer than any runner waits for a build. */
const idleMs = 15 * 60_000;
/** Headers come at once, whatever the line; bodies of artifacts and packs may take hours. */
const headersMs = 60_000;

/** How long a sender of nonsense may take to read what is said of it. */
const lingerMs = 5_000;

/** What is said of requests that never reach the application, by the code that Node gives them. */
const failures: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Request Entity Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

export interface HttpServerOptions {
  /** How long the headers of a request may take, in milliseconds; one minute unless told. */
  headersTimeoutMs?: number;
}

/** An HTTP server that answers in the one form also where Node answers by itself, and waits for nobody for ever. */
export function createHttpServer({ headersTimeoutMs = headersMs }: HttpServerOptions = {}): Server {
  const server = createServer({
    headersTimeout: headersTimeoutMs,
    requestTimeout: 0,
    connectionsCheckingInterval: headersTimeoutMs / 2,
  });
  server.setTimeout(idleMs);
  server.on('clientError', answerUnreadable);
  server.on('checkExpectation', refuseExpectation);
  return server;
}

function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET' || hasBegunToAnswer(socket)) {
    socket.destroy();
    return;
  }
  const reason = failures[error.code ?? ''] ?? '400 Bad Request';
  const body = JSON.stringify({ message: reason });
  const head = [`HTTP/1.1 ${reason}`, 'Connection: close', 'Content-Type: application/json'];
  (socket as Socket).setTimeout(lingerMs, () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
}

/** An answer that is on its way would be taken to go on with ours. */
function hasBegunToAnswer(socket: Duplex): boolean {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage?.headersSent ?? false;
}

function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  response.statusCode = 417;
  response.setHeader('Content-Type', 'application/json');
  response.end('{"message":"417 Expectation Failed"}');
}
