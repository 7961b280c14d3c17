import test from 'ava';
import { withApp } from './app.ts';
import { type MailServer, type ReceivedMail, startMailServer } from './mail-server.ts';

/** An application that mails to a real server, which has got nothing when a test begins. Call at the top of the file. */
export function withMail() {
  const holder = withApp();
  const post = {} as { server: MailServer };

  test.serial.before(async () => {
    post.server = await startMailServer();
  });
  test.beforeEach(() => {
    holder.app.services.mail = post.server.mailer();
    Object.assign(holder.app.work, { mail: holder.app.services.mail });
    post.server.received.length = 0;
    post.server.replies.length = 0;
  });
  test.after.always(() => post.server.close());

  /** What arrived for somebody, in its order. */
  function mailsOf(user: { username: string }): ReceivedMail[] {
    return post.server.received.filter(({ envelope }) =>
      envelope.to.includes(`${user.username}@example.com`),
    );
  }

  /** Names of those who got something, in their order. */
  function receivers(): string[] {
    return post.server.received
      .flatMap(({ envelope }) => envelope.to.map((address) => address.split('@')[0] ?? ''))
      .sort();
  }

  return { holder, post, mailsOf, receivers };
}

/** The value of a header in one line; undefined without it. */
export function header({ mail }: ReceivedMail, name: string): string | undefined {
  const line = mail.headerLines.find(({ key }) => key === name.toLowerCase());
  return line?.line
    .slice(name.length + 1)
    .replace(/\r\n\s*/g, ' ')
    .trim();
}
