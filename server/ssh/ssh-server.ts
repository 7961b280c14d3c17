import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import ssh2, { type Algorithms } from 'ssh2';
import { clientNetwork } from '../policy/client-address.ts';
import type { Services, Work } from '../services.ts';
import { SshConnection } from './connection.ts';
import { type SshLimits, usualLimits } from './limits.ts';

export interface SshServerOptions {
  /** Private keys in the format of OpenSSH, the preferred one first. */
  hostKeys: string[];
  limits?: Partial<SshLimits>;
}

export interface SshServer {
  /** To listen with. */
  net: Server;
  /** Takes nothing new, lets what runs end, and cuts off what is not over after so many milliseconds. */
  close(drainMs: number): Promise<void>;
}

/**
 * No SHA-1, nothing that costs this side much before a client has signed in, and only ciphers that Node has built in:
 * the others are computed in JavaScript, and clients would prefer them.
 */
const algorithms: Algorithms = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group14-sha256',
    'diffie-hellman-group16-sha512',
  ],
  serverHostKey: ['ssh-ed25519', 'rsa-sha2-512', 'rsa-sha2-256'],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes192-ctr', 'aes256-ctr'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  // A packed stream has nothing left to compress, and a small one might become anything.
  compress: ['none'],
};

const tooMany = 'Too many connections. Try again later.\r\n';

/** A client that has connected. */
interface Visitor {
  socket: Socket;
  network: string;
  isStranger: boolean;
  connection: SshConnection | null;
}

/** Serves git over SSH to everybody whose key is known. It listens to nothing yet. */
export function createSshServer(
  services: Services,
  { hostKeys, limits: given }: SshServerOptions,
): SshServer {
  const limits = { ...usualLimits, ...given };
  const visitors = new Set<Visitor>();
  const reader = services.orm.em.fork() as Work['em'];
  const work = (): Work => ({ ...services, em: reader, origin: services.baseUrl });
  const ssh = new ssh2.Server({
    hostKeys,
    algorithms,
    ident: 'Hearth',
    keepaliveInterval: limits.keepAliveMs,
    keepaliveCountMax: 3,
  });
  ssh.on('connection', (client, { ip, port }) => {
    const visitor = [...visitors].find(
      ({ socket }) => socket.remoteAddress === ip && socket.remotePort === port,
    );
    if (!visitor) {
      client.end();
      return;
    }
    const onSignedIn = () => {
      visitor.isStranger = false;
    };
    visitor.connection = new SshConnection({ client, socket: visitor.socket, limits, work, onSignedIn });
  });
  const net = createServer({ noDelay: true }, (socket) => {
    const visitor = admit(socket, { visitors, limits });
    if (!visitor) return;
    const timer = setTimeout(() => visitor.connection ?? socket.destroy(), limits.graceMs);
    socket.once('close', () => clearTimeout(timer));
    ssh.injectSocket(socket);
  });
  return { net, close: (drainMs) => close(net, { visitors, drainMs }) };
}

function admit(
  socket: Socket,
  { visitors, limits }: { visitors: Set<Visitor>; limits: SshLimits },
): Visitor | null {
  const network = clientNetwork(socket.remoteAddress ?? '');
  const all = [...visitors];
  const isFull =
    all.length >= limits.connections ||
    all.filter((other) => other.network === network).length >= limits.perAddress ||
    all.filter(({ isStranger }) => isStranger).length >= limits.strangers;
  if (isFull) {
    socket.on('error', () => undefined);
    socket.end(tooMany, () => socket.destroy());
    return null;
  }
  const visitor = { socket, network, isStranger: true, connection: null };
  visitors.add(visitor);
  socket.once('close', () => visitors.delete(visitor));
  return visitor;
}

async function close(
  net: Server,
  { visitors, drainMs }: { visitors: Set<Visitor>; drainMs: number },
): Promise<void> {
  const closed = net.listening ? once(net, 'close') : Promise.resolve();
  net.close();
  for (const { socket, connection } of visitors) {
    if (connection) connection.end();
    else socket.destroy();
  }
  const timer = setTimeout(() => {
    for (const { socket } of visitors) socket.destroy();
  }, drainMs);
  await closed;
  clearTimeout(timer);
}
