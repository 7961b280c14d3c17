import type { ServerChannel, Session } from 'ssh2';

/** The one thing that a client wants of a session. */
export interface Request {
  channel: ServerChannel;
  /** Null for a shell. */
  command: string | null;
  /** Version of git's protocol that the client asks for. */
  protocol: string | undefined;
  hasTerminal: boolean;
}

/** Hears what a session is opened for. Anything but a command or a shell is refused by the library itself. */
export function onRequest(session: Session, start: (request: Request) => void): void {
  const asked: Pick<Request, 'protocol' | 'hasTerminal'> = { protocol: undefined, hasTerminal: false };
  session.on('env', (accept, _reject, { key, val }) => {
    if (key === 'GIT_PROTOCOL') asked.protocol = val;
    // What is not wanted is not refused either: clients send more than they need.
    (accept as (() => void) | undefined)?.();
  });
  session.on('pty', (accept) => {
    asked.hasTerminal = true;
    (accept as (() => void) | undefined)?.();
  });
  const begin = (accept: () => ServerChannel | undefined, command: string | null) => {
    // A session carries one command; a second one gets no channel.
    const channel = accept();
    if (channel) start({ channel, command, ...asked });
  };
  session.on('shell', (accept) => begin(accept, null));
  session.on('exec', (accept, _reject, { command }) => begin(accept, command));
}
