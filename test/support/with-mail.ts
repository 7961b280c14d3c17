import test from 'ava';
import { type TestAppOptions, withApp } from './app.ts';
import { type MailServer, type ReceivedMail, startMailServer } from './mail-server.ts';

/** An application that mails to a real server, which has got nothing when a test begins. Call at the top of the file. */
export function withMail(options: TestAppOptions = {}) {
  const holder = withApp(options);
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

  /** The newest mail that somebody got. */
  function lastMail(user: { username: string }): ReceivedMail {
    const mail = mailsOf(user).at(-1);
    if (!mail) throw new Error(`nothing arrived for ${user.username}`);
    return mail;
  }

  /** What people are still to be told of, in the order in which it was queued; each once. */
  async function told(): Promise<unknown[]> {
    const queued = await holder.app.rows<{ happening: unknown }>(
      `with gone as (
         delete from graphile_worker._private_jobs j using graphile_worker._private_tasks t
         where t.id = j.task_id and t.identifier = 'notify' returning j.id, j.payload->'happening' as happening
       )
       select happening from gone order by id`,
    );
    return queued.map(({ happening }) => happening);
  }

  /** Names of those who got something, in their order. */
  function receivers(): string[] {
    return post.server.received
      .flatMap(({ envelope }) => envelope.to.map((address) => address.split('@')[0] ?? ''))
      .sort();
  }

  return { holder, post, mailsOf, lastMail, told, receivers };
}

/** The value of a header in one line; undefined without it. */
export function header({ mail }: ReceivedMail, name: string): string | undefined {
  const line = mail.headerLines.find(({ key }) => key === name.toLowerCase());
  return line?.line
    .slice(name.length + 1)
    .replace(/\r\n\s*/g, ' ')
    .trim();
}

/** What a mail says, without the end of its last line. */
export function textOf({ mail }: ReceivedMail): string {
  return (mail.text ?? '').trimEnd();
}
