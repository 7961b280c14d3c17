import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type {
  AuthContext,
  Connection,
  KeyboardAuthContext,
  PublicKeyAuthContext,
  ServerChannel,
  Session,
} from 'ssh2';
import type { Work } from '../services.ts';
import { judgeKey, unknownKeys } from './authenticate.ts';
import { callerOf } from './caller.ts';
import { ChannelOutput } from './channel-output.ts';
import type { SshLimits } from './limits.ts';
import { runCommand } from './run-command.ts';
import { onRequest, type Request } from './session.ts';

export interface ConnectionParts {
  client: Connection;
  socket: Socket;
  limits: SshLimits;
  /** Made anew for each command. */
  work(): Work;
  onSignedIn(): void;
}

/** Bytes that a client may make this server hold: no client that keeps to its windows comes near. */
const mostHeld = 8 * 1024 * 1024;
/** How long a client may take to close its side. */
const lingerMs = 5_000;

/** One client: who it is, and what it has running. */
export class SshConnection {
  readonly #parts: ConnectionParts;
  readonly #gone = new AbortController();
  readonly #channels = new Set<ServerChannel>();
  #fingerprint = '';
  #offers = 0;
  #sessions = 0;
  #isEnding = false;
  #isTold = false;
  #timer: NodeJS.Timeout;

  constructor(parts: ConnectionParts) {
    const { client, socket, limits } = parts;
    this.#parts = parts;
    this.#timer = setTimeout(() => socket.destroy(), limits.graceMs);
    client.on('error', (error) => {
      parts.work().log.debug({ err: error }, 'an SSH connection failed');
      this.#closeSoon();
    });
    client.on('handshake', ({ serverHostKey }) => {
      // The library offers RSA with SHA-1 whenever it has an RSA key.
      if (serverHostKey === 'ssh-rsa') this.#leave();
    });
    client.on('authentication', (context) => void this.#authenticate(context));
    client.on('ready', () => this.#signedIn());
    client.on('session', (accept, reject) => this.#open(accept, reject));
    client.on('close', () => this.#close());
    socket.setMaxListeners(limits.sessions + 20);
    client.setMaxListeners(limits.sessions + 20);
    socket.on('data', () => this.#checkHeld());
  }

  /** Lets what is running end, and takes nothing new. */
  end(): void {
    this.#isEnding = true;
    if (this.#channels.size === 0) this.#leave();
  }

  #leave(): void {
    this.#parts.client.end();
    this.#closeSoon();
  }

  /** The library closes its side alone, and a client that is not there any more never closes the other. */
  #closeSoon(): void {
    setTimeout(() => this.#parts.socket.destroy(), lingerMs).unref();
  }

  async #authenticate(context: AuthContext): Promise<void> {
    this.#offers += context.method === 'none' ? 0 : 1;
    if (this.#offers > this.#parts.limits.offers) this.#leave();
    else if (context.method === 'publickey') await this.#authenticateByKey(context);
    else if (context.method === 'keyboard-interactive' && !this.#isTold) this.#tell(context);
    else this.#reject(context);
  }

  async #authenticateByKey(context: PublicKeyAuthContext): Promise<void> {
    const { em, log } = this.#parts.work();
    try {
      const fingerprint = await judgeKey(em, context);
      if (fingerprint === null) {
        this.#reject(context);
        return;
      }
      if (context.signature) this.#fingerprint = fingerprint;
      this.#answer(() => context.accept());
    } catch (error) {
      // Neither yes nor no: told that its key is unknown, a client would look for the fault on its side.
      log.warn({ err: error }, 'an SSH key could not be looked up');
      this.#leave();
    }
  }

  /** Shows whoever sits at the client why it is not let in, without asking anything. */
  #tell(context: KeyboardAuthContext): void {
    this.#isTold = true;
    context.prompt([], '', unknownKeys, (answers: string[] | Error) => {
      // An error stands for another request that came meanwhile, and is the one to be answered.
      if (!(answers instanceof Error)) this.#reject(context);
    });
  }

  #reject(context: AuthContext): void {
    this.#answer(() => context.reject(this.#isTold ? ['publickey'] : ['publickey', 'keyboard-interactive']));
  }

  /** The library fails on words to a client that has gone. */
  #answer(say: () => void): void {
    if (!this.#gone.signal.aborted && !this.#parts.socket.destroyed) say();
  }

  #signedIn(): void {
    this.#parts.onSignedIn();
    this.#restartIdling();
    if (this.#isEnding) this.#leave();
  }

  #restartIdling(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#leave(), this.#parts.limits.idleMs);
  }

  #open(accept: () => Session, reject: () => void): void {
    if (this.#isEnding || this.#sessions >= this.#parts.limits.sessions) {
      reject();
      return;
    }
    const session = accept();
    const closed = new AbortController();
    this.#sessions += 1;
    session.once('close', () => {
      this.#sessions -= 1;
      closed.abort();
    });
    onRequest(session, (request) => void this.#run(request, closed));
  }

  async #run(request: Request, closed: AbortController): Promise<void> {
    const { channel } = request;
    clearTimeout(this.#timer);
    this.#channels.add(channel);
    // Writing to a channel that its client has closed; the signal says so too.
    channel.on('error', () => undefined);
    channel.stderr.on('error', () => undefined);
    try {
      await this.#carryOut(request, closed);
    } finally {
      this.#channels.delete(channel);
      if (this.#channels.size === 0 && !this.#gone.signal.aborted) this.#restartIdling();
      if (this.#isEnding) this.end();
    }
  }

  async #carryOut(
    { channel, command, protocol, hasTerminal }: Request,
    closed: AbortController,
  ): Promise<void> {
    const { client, socket, limits } = this.#parts;
    const work = this.#parts.work();
    const started = performance.now();
    const stall = setTimeout(() => closed.abort(), limits.stallMs);
    const signal = AbortSignal.any([closed.signal, this.#gone.signal]);
    const onTaken = () => void stall.refresh();
    const output = new ChannelOutput({ channel, client, socket, signal, onTaken });
    const input = Readable.from(noting(channel, onTaken), { objectMode: false });
    try {
      const caller = await callerOf(work.em, this.#fingerprint);
      if (!caller) {
        await output.complain('hearth: this key is no longer valid.');
        output.end(1);
        this.end();
        return;
      }
      const parts = { caller, command, protocol, input, output, signal, isRaw: hasTerminal };
      const end = await Promise.race([runCommand(work, parts), fired(signal)]);
      output.end(end?.code ?? 1);
      const { keyId: key, viewer } = caller;
      const ms = Math.round((performance.now() - started) * 1000) / 1000;
      work.log.info({ ...end, key, user: viewer?.id, ms }, 'command over SSH');
    } catch (error) {
      work.log.warn({ err: error }, 'a command over SSH could not be begun');
      output.end(1);
    } finally {
      clearTimeout(stall);
    }
  }

  /** The library neither insists on the window that it grants nor on its answers being read. */
  #checkHeld(): void {
    const { socket } = this.#parts;
    const unread = [...this.#channels].some(({ readableLength }) => readableLength > mostHeld);
    if (unread || socket.writableLength > mostHeld) socket.destroy();
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#gone.abort();
  }
}

function fired(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}

/** What the client says. Its end is not that of the channel, which git has still to answer on. */
async function* noting(channel: ServerChannel, onChunk: () => void): AsyncGenerator<Buffer> {
  for await (const chunk of channel.iterator({ destroyOnReturn: false })) {
    onChunk();
    yield chunk;
  }
}
