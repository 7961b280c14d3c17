import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** The engine of this machine at another address, which can go away. */
export interface EngineProxy {
  address: string;
  open(): Promise<void>;
  /** Ends all connections; new ones are refused. */
  close(): void;
}

/** Listens at a path, or on a free TCP port of this machine when none is given. */
export async function engineProxy(path?: string): Promise<EngineProxy> {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  const proxy = {
    address: path ?? '',
    async open() {
      server = createServer((client) => forward(client, sockets));
      server.listen(path ?? { host: '127.0.0.1', port: 0 });
      await once(server, 'listening');
      const bound = server.address();
      if (typeof bound === 'object' && bound) proxy.address = `tcp://127.0.0.1:${bound.port}`;
    },
    close() {
      server?.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  await proxy.open();
  return proxy;
}

function forward(client: Socket, sockets: Set<Socket>): void {
  const engine = connect('/var/run/docker.sock');
  for (const socket of [client, engine]) {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
  }
  client.on('close', () => engine.destroy());
  client.pipe(engine).pipe(client);
}
