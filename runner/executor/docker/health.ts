import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface PortProbe {
  address: string;
  ports: number[];
}

type Answer = 'open' | 'refused' | 'silent';

/**
 * Tries the ports until one of them is open. `unreachable` after a while in which not even a refusal came
 * back: this host then has no way to the network of the containers. Rejects when the signal fires.
 */
export async function waitForPort(probe: PortProbe, signal: AbortSignal): Promise<'open' | 'unreachable'> {
  const patienceUntil = performance.now() + 1500;
  let isReachable = false;
  for (;;) {
    const answers = await Promise.all(probe.ports.map((port) => tryPort(probe.address, port, signal)));
    if (answers.includes('open')) return 'open';
    isReachable ||= answers.includes('refused');
    if (!isReachable && performance.now() > patienceUntil) return 'unreachable';
    await delay(200, undefined, { signal });
  }
}

function tryPort(host: string, port: number, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, signal });
    const settle = (answer: Answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1000, () => settle('silent'));
    socket.once('connect', () => settle('open'));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      settle(error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET' ? 'refused' : 'silent');
    });
  });
}

/** Ends with 0 as soon as a port is open, 1 when none opened in time, 3 when the image has no tool to try. */
export function probeScript({ address, ports }: PortProbe, seconds: number): string {
  return `i=0
while [ "$i" -lt ${seconds} ]; do
  for port in ${ports.join(' ')}; do
    if command -v nc >/dev/null 2>&1; then nc -w 1 ${address} "$port" </dev/null >/dev/null 2>&1 && exit 0
    elif command -v bash >/dev/null 2>&1; then bash -c ": </dev/tcp/${address}/$port" 2>/dev/null && exit 0
    else exit 3
    fi
  done
  i=$((i + 1)); sleep 1
done
exit 1`;
}
