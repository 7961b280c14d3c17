import { join } from 'node:path';
import test from 'ava';
import { memoryGrowth } from '../../bench/support/memory.ts';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { commitTree, writeBlob, writeTree } from '../support/trees.ts';
import { withHearth } from '../support/with-hearth.ts';

const hearths = withHearth();

test('a blob of 200 MB and the archive with it pass through a server that never holds them', async (t) => {
  const hearth = await hearths.start();
  const forge = await hearth.forge();
  const project = await forge.createProject('large');
  const dir = repositoryDir(join(hearth.dataDir, 'repositories'), project.id);
  const size = 200 * 1024 * 1024;
  const blob = await writeBlob(dir, Buffer.alloc(size));
  await commitTree(dir, await writeTree(dir, [`100644 blob ${blob}\tlarge`]));
  const drain = async (path: string) => {
    const url = `${forge.url}/api/v3/projects/${project.id}/repository/${path}`;
    const answer = await fetch(url, { headers: { 'PRIVATE-TOKEN': forge.token } });
    let received = 0;
    for await (const piece of answer.body ?? []) received += piece.length;
    return { status: answer.status, received };
  };
  // What the first requests of a server take stays taken.
  await drain('raw_blobs/none');
  const grown = await memoryGrowth(hearth.server.child.pid ?? 0, async () => {
    t.deepEqual(await drain(`raw_blobs/${blob}`), { status: 200, received: size });
    const { status, received } = await drain('archive.tar?sha=master');
    t.is(status, 200);
    t.true(received > size);
  });
  t.true(grown < 100, `${grown} MiB more`);
});
