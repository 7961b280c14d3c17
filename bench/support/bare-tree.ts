// The limit of reading a repository: `bare-tree.ts DIR` serves /tree?REVISION and /file?REVISION from one `git cat-file`.
import { spawn } from 'node:child_process';
import { serveBare } from './bare-listen.ts';

const [dir = ''] = process.argv.slice(2);
const git = spawn('git', [`--git-dir=${dir}`, 'cat-file', '--batch'], { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting: ((object: { id: string; data: Buffer }) => void)[] = [];
let pieces: Buffer[] = [];
let missing = 0;

git.stdout.on('data', (piece: Buffer) => {
  pieces.push(piece);
  missing -= piece.length;
  if (missing > 0) return;
  let all = Buffer.concat(pieces);
  for (let end = all.indexOf(10); end !== -1; end = all.indexOf(10)) {
    const [id = '', , size] = all.toString('latin1', 0, end).split(' ');
    const next = end + 2 + Number(size);
    missing = next - all.length;
    if (missing > 0) break;
    waiting.shift()?.({ id, data: all.subarray(end + 1, next - 1) });
    all = all.subarray(next);
  }
  pieces = all.length > 0 ? [all] : [];
});

function read(spec: string): Promise<{ id: string; data: Buffer }> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    git.stdin.write(`${spec}\n`);
  });
}

function parse(data: Buffer): { name: string; type: string; mode: string; id: string }[] {
  const entries = [];
  for (let at = 0; at < data.length; ) {
    const space = data.indexOf(32, at);
    const end = data.indexOf(0, space);
    const mode = data.toString('latin1', at, space).padStart(6, '0');
    const type = mode === '040000' ? 'tree' : 'blob';
    const name = data.toString('utf8', space + 1, end);
    entries.push({ name, type, mode, id: data.toString('hex', end + 1, end + 21) });
    at = end + 21;
  }
  return entries;
}

serveBare(async ({ url = '' }, response) => {
  const [path, spec = ''] = url.split('?');
  const { id, data } = await read(spec);
  const answer =
    path === '/tree'
      ? parse(data).slice(0, 100)
      : { size: data.length, blob_id: id, content: data.toString('base64') };
  const body = JSON.stringify(answer);
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
});
