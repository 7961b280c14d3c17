import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { ExecutionContext } from 'ava';
import ssh2, { type Client, type ClientChannel } from 'ssh2';
import { flushPkt, pktLine } from '../../server/git/pkt-line.ts';
import { zeroSha } from '../../server/git/ref-name.ts';
import { packOf, type WorkTree } from './git.ts';
import type { ClientKey } from './ssh.ts';

/** A client that does things step by step, and stops in the middle of them. */
export async function connect(t: ExecutionContext, port: number, key: ClientKey): Promise<Client> {
  const client = new ssh2.Client();
  t.teardown(() => client.destroy());
  client.on('error', () => undefined);
  const privateKey = await readFile(key.path);
  client.connect({ host: '127.0.0.1', port, username: 'git', privateKey });
  await once(client, 'ready');
  return client;
}

export function exec(client: Client, command: string): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => (error ? reject(error) : resolve(channel)));
  });
}

/** Waits until the server has said what ends with a text. */
export async function said(channel: ClientChannel, end: string): Promise<string> {
  let text = '';
  for await (const [chunk] of onData(channel)) {
    text += chunk.toString('latin1');
    if (text.endsWith(end)) break;
  }
  return text;
}

async function* onData(channel: ClientChannel): AsyncGenerator<[Buffer]> {
  for await (const chunk of channel.iterator({ destroyOnReturn: false })) yield [chunk as Buffer];
}

/** Code and text of a command that has ended. */
export async function ending(channel: ClientChannel): Promise<{ code: number; text: string }> {
  let code = -1;
  channel.once('exit', (given: number) => {
    code = given;
  });
  const closed = once(channel, 'close');
  channel.stderr.resume();
  const text = await said(channel, '\0 never');
  await closed;
  return { code, text };
}

/** What a client sends to make a branch of the tree's HEAD: commands, then a pack. */
export async function pushOf(tree: WorkTree, branch: string): Promise<{ commands: Buffer; pack: Buffer }> {
  const head = await tree.head();
  const command = `${zeroSha} ${head} refs/heads/${branch}\0report-status side-band-64k`;
  const pack = await packOf(tree.dir, head);
  return { commands: Buffer.concat([pktLine(command), flushPkt]), pack };
}
