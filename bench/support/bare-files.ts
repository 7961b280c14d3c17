// The limit of storing bytes: `bare-files.ts FOLDER`. PATCH appends durably, POST stores, GET sends.
import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Handler, serveBare } from './bare-listen.ts';

const [folder = ''] = process.argv.slice(2);
const handles = new Map<string, Promise<FileHandle>>();

function pathOf({ url = '' }: IncomingMessage): string {
  return join(folder, url.replaceAll('/', '_'));
}

const methods: Record<string, Handler> = {
  async PATCH(request, response) {
    const path = pathOf(request);
    const opened = handles.get(path) ?? open(path, 'a');
    handles.set(path, opened);
    const handle = await opened;
    for await (const piece of request) await handle.write(piece);
    await handle.sync();
    response.end();
  },
  async POST(request, response) {
    await pipeline(request, createWriteStream(pathOf(request), { flush: true }));
    response.end();
  },
  GET: (request, response) => pipeline(createReadStream(pathOf(request)), response),
};

serveBare(async (request, response) => methods[request.method ?? '']?.(request, response));
