import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Serves on a free port and says where. What a handler throws ends the process: a benchmark has no use for it. */
export function serveBare(handle: Handler): void {
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
  });
}
