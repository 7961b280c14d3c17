import { createTransport, type Transporter } from 'nodemailer';

/** Where messages are handed over. */
export interface SmtpServer {
  /** A name or an address, IPv6 without brackets. */
  host: string;
  port: number;
  /** Encrypted from the first byte on; else it is asked for, where the server offers it. */
  secure: boolean;
  /** Sent over an encrypted connection only, but to this machine itself. */
  login: { user: string; password: string } | null;
}

export interface MailAddress {
  name: string;
  address: string;
}

export interface Message {
  /** Whoever did what it tells of; shown as the sender beside the instance's address. */
  fromName: string | null;
  to: MailAddress;
  subject: string;
  text: string;
  headers: Record<string, string>;
  /** Unique to the message, and the same at each try to send it. */
  id: string;
}

export interface MailerOptions {
  server: SmtpServer;
  from: MailAddress;
  /** Certificates to trust in place of those of the machine. */
  ca?: string;
  /** Milliseconds without a word from the server. */
  silenceMs?: number;
}

/** `refused`: it never will be taken; `later`: it may be. */
export type Outcome = { is: 'sent' } | { is: 'refused' | 'later'; reason: string };

interface SmtpError {
  code?: string;
  responseCode?: number;
  message: string;
}

const localHosts = new Set(['localhost', '127.0.0.1', '::1']);

/** Hands messages to a mail server, on a connection of its own for each. */
export class Mailer {
  readonly #transport: Transporter;
  readonly #from: MailAddress;

  constructor({ server, from, ca, silenceMs = 30_000 }: MailerOptions) {
    const { host, port, secure, login } = server;
    this.#from = from;
    this.#transport = createTransport({
      host,
      port,
      secure,
      requireTLS: login !== null && !localHosts.has(host),
      ...(login ? { auth: { user: login.user, pass: login.password } } : {}),
      ...(ca === undefined ? {} : { tls: { ca } }),
      connectionTimeout: silenceMs,
      greetingTimeout: silenceMs,
      socketTimeout: silenceMs,
      dnsTimeout: silenceMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  /** What stands behind the `@` in ids of messages and lists. */
  get domain(): string {
    return this.#from.address.split('@').at(-1) ?? 'localhost';
  }

  async send(message: Message): Promise<Outcome> {
    const { address, name } = this.#from;
    try {
      await this.#transport.sendMail({
        from: { address, name: oneLine(message.fromName ?? name) },
        to: { address: message.to.address, name: oneLine(message.to.name) },
        // Nobody hears of bounces but the sender's own address.
        envelope: { from: address, to: [message.to.address] },
        subject: oneLine(message.subject),
        text: message.text,
        messageId: `<${message.id}@${this.domain}>`,
        headers: Object.fromEntries(
          Object.entries(message.headers).map(([header, value]) => [header, oneLine(value)]),
        ),
      });
      return { is: 'sent' };
    } catch (error) {
      return outcomeOf(error as SmtpError);
    }
  }
}

/** A refused login is the administrator's to mend, and the messages wait for it. */
function outcomeOf({ code, responseCode, message }: SmtpError): Outcome {
  const isRefused = code !== 'EAUTH' && responseCode !== undefined && responseCode >= 500;
  return { is: isRefused ? 'refused' : 'later', reason: oneLine(message).slice(0, 300) };
}

/** Names and titles come from users: in a header, the end of a line would begin another one. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
