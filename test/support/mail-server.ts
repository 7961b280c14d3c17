import type { AddressInfo } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { Mailer } from '../../server/mail/mailer.ts';
import { localhostCertificate, localhostKey } from './localhost-certificate.ts';

export interface ReceivedMail {
  envelope: { from: string; to: string[] };
  mail: ParsedMail;
  raw: string;
  /** Whoever signed in to send it. */
  user: string | undefined;
  isEncrypted: boolean;
}

/** What the server says to the next recipients, in order; a function may answer when it likes, or never. */
export type Reply = { code: number; text: string } | 'silence';

export interface MailServer {
  port: number;
  received: ReceivedMail[];
  /** Connections that were made. */
  connections: number;
  replies: Reply[];
  /** A mailer that hands messages to it. */
  mailer(options?: { secure?: boolean; login?: { user: string; password: string }; trust?: boolean }): Mailer;
  close(): Promise<void>;
}

export const mailLogin = { user: 'hearth', password: 'mail-password-1' };

/** A real SMTP server on a port of its own. With `authOptional: false` only those who sign in may send. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const state = { received: [] as ReceivedMail[], replies: [] as Reply[], connections: 0 };
  const server = new SMTPServer({
    authOptional: true,
    logger: false,
    key: localhostKey,
    cert: localhostCertificate,
    closeTimeout: 100,
    onConnect(_session, done) {
      state.connections += 1;
      done();
    },
    onAuth({ username, password }, _session, done) {
      if (username === mailLogin.user && password === mailLogin.password) done(null, { user: username });
      else done(new Error('who are you?'));
    },
    onRcptTo(_address, _session, done) {
      const reply = state.replies.shift();
      if (reply === 'silence') return;
      done(reply ? Object.assign(new Error(reply.text), { responseCode: reply.code }) : null);
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks);
        const { mailFrom, rcptTo } = session.envelope;
        const envelope = {
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
        };
        const user = session.user as unknown as string | undefined;
        simpleParser(raw).then((mail) => {
          state.received.push({ envelope, mail, raw: raw.toString(), user, isEncrypted: session.secure });
          done();
        }, done);
      });
    },
    ...options,
  });
  // A client that gives up or does not trust the certificate is no fault of the test.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  return Object.assign(state, {
    port,
    mailer: ({ secure = false, login = undefined as typeof mailLogin | undefined, trust = true } = {}) =>
      new Mailer({
        server: { host: 'localhost', port, secure, login: login ?? null },
        from: { name: 'Hearth', address: 'hearth@forge.example.com' },
        ...(trust ? { ca: localhostCertificate } : {}),
        silenceMs: 5000,
      }),
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  });
}
