import test from 'ava';
import { withPushes } from '../support/pushes.ts';

const { holder, filled } = withPushes();

/** No ref can have such a name: half of it has two bytes a letter. */
const long = `${'x'.repeat(2000)}${'\u00e9'.repeat(2000)}`;
/** The same in an address, where it takes less. */
const inPath = 'x'.repeat(4000);

async function scene() {
  const { project } = await filled();
  const call = async (method: string, path: string, form?: Record<string, string>) => {
    const [as, query] = [project.owner.token, method === 'GET' ? form : undefined];
    const { status, body } = await holder.app.call<unknown>(
      method,
      `/api/v3/projects/${project.id}/${path}`,
      {
        as,
        ...(query ? { query } : form ? { form } : {}),
      },
    );
    return [status, body];
  };
  return call;
}

test('a long name of what is read leads nowhere, as any other that is not there', async (t) => {
  const call = await scene();
  const gone = (name: string) => [404, { message: `404 ${name} Not Found` }];
  const query = { ref: inPath, ref_name: inPath, sha: inPath, file_path: 'README', filepath: 'README' };
  for (const [path, expected] of [
    ['repository/tree', gone('Tree')],
    [`repository/blobs/${inPath}`, gone('Commit')],
    [`repository/raw_blobs/${inPath}`, gone('Blob')],
    ['repository/archive', gone('File')],
    [`repository/branches/${inPath}`, gone('Branch')],
    [`repository/tags/${inPath}`, gone('Tag')],
    ['repository/files', gone('Commit')],
    ['repository/commits', [200, []]],
    [`repository/commits/${inPath}`, gone('Commit')],
    [`repository/commits/${inPath}/diff`, gone('Commit')],
    [`repository/commits/${inPath}/comments`, gone('Commit')],
    [`repository/commits/${inPath}/statuses`, gone('Commit')],
    [`repository/commits/${inPath}/builds`, [404, { message: '404 Not Found' }]],
    ['repository/commits/master/statuses', [200, []]],
    ['pipelines', [200, []]],
    [`builds/artifacts/${inPath}/download?job=a`, [404, { message: '404 Not Found' }]],
  ] as const) {
    const own = path.includes('builds/artifacts') || path.includes(inPath) ? { filepath: 'README' } : query;
    t.deepEqual(await call('GET', path, own), [...expected], path.replace(inPath, '…'));
  }
  const [status, compared] = await call('GET', 'repository/compare', { from: inPath, to: 'master' });
  t.is(status, 200);
  t.like(compared, { commits: [], diffs: [] });
});

test('a long name of what is written is refused as any other that does not do', async (t) => {
  const call = await scene();
  const branches = 'repository/branches';
  t.deepEqual(await call('POST', branches, { branch_name: long, ref: 'master' }), [
    400,
    { message: 'Branch name is invalid' },
  ]);
  t.deepEqual(await call('POST', branches, { branch_name: 'b', ref: long }), [
    400,
    { message: 'Invalid reference name' },
  ]);
  for (const verb of ['protect', 'unprotect']) {
    const answer = await call('PUT', `${branches}/${inPath}/${verb}`);
    t.deepEqual(answer, [404, { message: '404 Branch Not Found' }]);
  }
  t.deepEqual(await call('DELETE', `${branches}/${inPath}`), [404, { message: 'No such branch' }]);
  t.deepEqual(await call('POST', 'repository/tags', { tag_name: long, ref: 'master' }), [
    405,
    { message: 'Tag name invalid' },
  ]);
  t.is((await call('POST', 'repository/tags', { tag_name: 'v1', ref: long }))[0], 405);
  t.deepEqual(await call('DELETE', `repository/tags/${inPath}`), [404, { message: 'No such tag' }]);
  const release = { description: 'x' };
  for (const method of ['POST', 'PUT']) {
    const answer = await call(method, `repository/tags/${inPath}/release`, release);
    t.deepEqual(answer, [404, { message: 'Tag does not exist' }]);
  }
  const noBranch = { message: 'You can only create or edit files when you are on a branch' };
  const file = { file_path: 'a', branch_name: long, content: 'a', commit_message: 'A' };
  t.deepEqual(await call('POST', 'repository/files', file), [400, noBranch]);
});

test('a trigger of a long name starts nothing', async (t) => {
  const call = await scene();
  const [, trigger] = await call('POST', 'triggers');
  const { token } = trigger as { token: string };
  for (const ref of [long, '\u00e9'.repeat(65_000), 'master:.gitlab-ci.yml', 'master^{commit}']) {
    t.deepEqual(await call('POST', 'trigger/builds', { token, ref }), [
      400,
      { message: 'No builds created' },
    ]);
  }
  t.is((await call('POST', 'trigger/builds', { token, ref: 'master' }))[0], 201);
});

test('a status takes no longer name of a ref than a ref can have', async (t) => {
  const call = await scene();
  const letters = Array.from({ length: 1000 }, (_, index) => String.fromCodePoint(0x4e00 + index * 13));
  const status = (count: number) => {
    const ref = letters.slice(0, count).join('');
    return call('POST', 'statuses/master', { state: 'success', ref });
  };
  t.is((await status(255))[0], 201);
  const refused = [400, { message: { ref: ['is too long (maximum is 255 characters)'] } }];
  for (const count of [256, 1000]) t.deepEqual(await status(count), refused);
});
