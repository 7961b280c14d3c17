import test from 'ava';
import fc from 'fast-check';
import { nextJobs } from '../../server/ci/next-builds.ts';
import { parseCiConfig } from '../../server/ci/parse.ts';
import { formatProblem } from '../../server/ci/problems.ts';
import { aggregateStatus } from '../../server/ci/status.ts';
import { buildStatuses } from '../../shared/build-status.ts';

const sample = `
image: &image "gcc:12"
stages: [build, test]
variables: {A: 1, B: "two"}
.base: &base
  image: *image
  tags: [linux]
compile:
  <<: *base
  stage: build
  script:
    - make
    - |
      if true; then
        make install
      fi
  only: [master, /^v[0-9]+$/, branches@group/project]
  artifacts: {paths: [out/], expire_in: 2 weeks, when: always}
check:
  script: [make check]
  dependencies: [compile]
  allow_failure: yes
  environment: {name: review}
`;

const snippets = [
  '*base',
  '&base ',
  '<<: *base',
  '- ',
  ': ',
  '\t',
  '"',
  '[',
  ']',
  '{',
  '}',
  '|\n',
  '!x ',
  '\n',
  '---\n',
];
const edit = fc.record({
  at: fc.nat({ max: sample.length }),
  remove: fc.nat({ max: 12 }),
  insert: fc.oneof(fc.constantFrom(...snippets, 'rules', '1', '~', '__proto__'), fc.string({ maxLength: 4 })),
});

test('whatever is done to a file, the answer is a config or located errors', (t) => {
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 6 }), (edits) => {
      let text = sample;
      for (const { at, remove, insert } of edits) text = text.slice(0, at) + insert + text.slice(at + remove);
      const result = parseCiConfig(text);
      if ('config' in result) return result.config.jobs.length > 0;
      const lines = text.split(/\r\n?|\n/).length;
      return result.errors.length > 0 && result.errors.every(({ line }) => line >= 1 && line <= lines);
    }),
    { numRuns: 500 },
  );
  t.pass();
});

test('any text at all gets an answer', (t) => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(fc.constantFrom(...snippets)).map((parts) => parts.join('')),
      ),
      (text) => {
        const result = parseCiConfig(text);
        const problems = 'errors' in result ? result.errors : result.warnings;
        return problems.every((problem) => formatProblem(problem).endsWith(` (line ${problem.line})`));
      },
    ),
    { numRuns: 500 },
  );
  t.pass();
});

test('a generated plan of jobs is read back', (t) => {
  const name = fc.stringMatching(/^[a-z][a-z0-9 _]{0,8}[a-z0-9]$/).filter((text) => !text.endsWith(' '));
  const job = fc.record({
    name,
    stage: fc.constantFrom('one', 'two'),
    script: fc.array(fc.string(), { maxLength: 3 }),
  });
  fc.assert(
    fc.property(fc.uniqueArray(job, { minLength: 1, selector: (item) => item.name }), (jobs) => {
      const lines = jobs.map(
        (item) => `"job ${item.name}": ${JSON.stringify({ stage: item.stage, script: item.script })}`,
      );
      const result = parseCiConfig(`stages: [one, two]\n${lines.join('\n')}`);
      if ('errors' in result) return jobs.some((item) => item.script.join('').includes('\0'));
      const read = result.config.jobs.map((item) => [item.name, item.stage, ...item.script]);
      return (
        JSON.stringify(read) ===
        JSON.stringify(jobs.map((item) => [`job ${item.name}`, item.stage, ...item.script]))
      );
    }),
  );
  t.pass();
});

const planned = fc.uniqueArray(
  fc.record({
    name: fc.stringMatching(/^[a-z]{1,3}$/),
    stageIndex: fc.nat({ max: 3 }),
    when: fc.constantFrom('on_success', 'on_failure', 'always', 'manual'),
  }),
  { selector: (item) => item.name, maxLength: 8 },
);

test('progress never repeats a name, stays in one stage and comes to an end', (t) => {
  const outcomes = fc.array(fc.constantFrom('success', 'failed', 'canceled'), {
    minLength: 20,
    maxLength: 20,
  });
  fc.assert(
    fc.property(planned, outcomes, (jobs, results) => {
      const builds: Parameters<typeof nextJobs>[0]['builds'] = [];
      for (let round = 0; round <= jobs.length; round += 1) {
        const next = nextJobs({ jobs, builds });
        const due = jobs.filter((job) => next.includes(job.name));
        if (next.some((name) => builds.some((build) => build.name === name))) return false;
        if (
          new Set(due.map(({ stageIndex }) => stageIndex)).size > 1 ||
          due.some(({ when }) => when === 'manual')
        )
          return false;
        if (next.length === 0) return true;
        for (const { name, stageIndex } of due) {
          builds.push({ name, stageIndex, status: results[builds.length] ?? 'success', allowFailure: false });
        }
      }
      return false;
    }),
  );
  t.pass();
});

test('the order of rows does not matter to their status', (t) => {
  const row = fc.record({
    status: fc.constantFrom(...buildStatuses, 'skipped' as const),
    allowFailure: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(row), (rows) => aggregateStatus(rows) === aggregateStatus([...rows].reverse())),
  );
  t.pass();
});
