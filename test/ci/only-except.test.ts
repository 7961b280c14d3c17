import test from 'ava';
import type { CiJob } from '../../server/ci/config.ts';
import { jobsForRef, type RefContext } from '../../server/ci/only-except.ts';
import { parseCiConfig } from '../../server/ci/parse.ts';

const branch: RefContext = { ref: 'master', tag: false, trigger: false, projectPath: 'group/project' };
const tag: RefContext = { ...branch, ref: 'v1.0', tag: true };
const trigger: RefContext = { ...branch, trigger: true };

function runs(keys: string, context: RefContext): boolean {
  const result = parseCiConfig(`job:\n  script: x\n  ${keys}\n`);
  if ('errors' in result) throw new Error(JSON.stringify(result.errors));
  return jobsForRef(result.config, context).length === 1;
}

const table: [keys: string, context: RefContext, expected: boolean][] = [
  ['tags: []', branch, true],
  ['tags: []', tag, true],
  ['tags: []', trigger, true],
  ['only: [branches]', branch, true],
  ['only: [branches]', tag, false],
  ['only: [tags]', tag, true],
  ['only: [tags]', branch, false],
  ['only: [triggers]', trigger, true],
  ['only: [triggers]', branch, false],
  ['only: [branches]', trigger, true],
  ['only: [pushes]', branch, true],
  ['only: [pushes]', trigger, false],
  ['except: [triggers]', trigger, false],
  ['only: [master]', branch, true],
  ['only: [Master]', branch, false],
  ['only: [v1.0]', tag, true],
  ['only: [/^v\\d+/]', tag, true],
  ['only: [/as/]', branch, true],
  ['only: [/^as/]', branch, false],
  ['only: [/MASTER/]', branch, false],
  ['only: [/MASTER/i]', branch, true],
  ['only: ["/\\\\Amaster\\\\Z/"]', branch, true],
  ['only: ["/^\\\\h\\\\.\\\\h$/"]', { ...tag, ref: 'a.f' }, true],
  ['only: ["/^[\\\\h]+$/"]', { ...tag, ref: 'cafe' }, true],
  ['only: ["/^[\\\\h]+$/"]', { ...tag, ref: 'coffee' }, false],
  ['only: ["/^feature\\\\/.+/"]', { ...branch, ref: 'feature/one' }, true],
  ['only: [master]\n  except: [branches]', branch, false],
  ['except: [master]', tag, true],
  ['except: [master]', branch, false],
  ['only: [master@group/project]', branch, true],
  ['only: [master@group/other]', branch, false],
  ['only: [master@Group/project]', branch, false],
  ['only: ["/.*/@group/project"]', tag, true],
  ['except: [branches@group/project]', branch, false],
  ['only: ["/a\\\\x40b/"]', { ...branch, ref: 'a@b' }, true],
  ['only: [branches]', { ...tag, ref: 'branches' }, true],
  ['only: {refs: [tags]}', tag, true],
  ['only: {refs: [tags]}', branch, false],
];

for (const [keys, context, expected] of table) {
  const kind = context.trigger ? 'trigger on' : context.tag ? 'tag' : 'branch';
  test(`${keys.replace('\n ', ',')} ${expected ? 'takes' : 'leaves out'} the ${kind} ${context.ref}`, (t) => {
    t.is(runs(keys, context), expected);
  });
}

test('a pattern that would make a backtracking engine hang is decided at once', (t) => {
  t.false(runs('only: ["/^(a+)+$/"]', { ...branch, ref: `${'a'.repeat(200)}!` }));
});

test('a stored plan with an expression that no longer compiles matches nothing', (t) => {
  const only = [{ text: '/(/', regex: { source: '(', ignoreCase: false }, project: null }];
  const job = { name: 'j', only, except: null } as unknown as CiJob;
  t.deepEqual(jobsForRef({ jobs: [job] }, branch), []);
});
