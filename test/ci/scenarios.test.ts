import test from 'ava';
import { jobsForRef } from '../../server/ci/only-except.ts';
import { parseCiConfig } from '../../server/ci/parse.ts';
import { skipMarker } from '../../server/ci/skip-marker.ts';
import { SimulatedPipeline } from './simulated-pipeline.ts';

const line = `
compile: {stage: build, script: make}
check: {stage: test, script: make check}
ship: {stage: deploy, script: make ship}
`;

test('stages run one after the other, ids in their order', (t) => {
  const pipeline = new SimulatedPipeline(line);
  t.deepEqual(pipeline.names, ['compile']);
  t.is(pipeline.status, 'pending');
  pipeline.end('compile', 'success');
  t.deepEqual(pipeline.names, ['compile', 'check']);
  t.is(pipeline.status, 'running');
  pipeline.end('check', 'success');
  pipeline.end('ship', 'success');
  t.deepEqual(pipeline.names, ['compile', 'check', 'ship']);
  t.is(pipeline.status, 'success');
});

test('after a failure an always job runs, the stage between is passed over', (t) => {
  const pipeline = new SimulatedPipeline(`
stages: [test, deploy, cleanup]
check: {script: x}
ship: {stage: deploy, script: x}
sweep: {stage: cleanup, when: always, script: x}
`);
  pipeline.end('check', 'failed');
  t.deepEqual(pipeline.names, ['check', 'sweep']);
  pipeline.end('sweep', 'success');
  t.deepEqual(pipeline.names, ['check', 'sweep']);
  t.is(pipeline.status, 'failed');
});

test('on_failure runs first, then always, and the pipeline stays failed', (t) => {
  const pipeline = new SimulatedPipeline(`
stages: [test, report, cleanup]
check: {script: x}
tell: {stage: report, when: on_failure, script: x}
sweep: {stage: cleanup, when: always, script: x}
`);
  pipeline.end('check', 'failed');
  t.deepEqual(pipeline.names, ['check', 'tell']);
  pipeline.end('tell', 'success');
  t.deepEqual(pipeline.names, ['check', 'tell', 'sweep']);
  pipeline.end('sweep', 'success');
  t.is(pipeline.status, 'failed');
});

test('a job that is allowed to fail holds nothing up and wakes no on_failure job', (t) => {
  const pipeline = new SimulatedPipeline(`${line}
lint: {stage: test, script: x, allow_failure: true}
tell: {stage: deploy, when: on_failure, script: x}
`);
  pipeline.end('compile', 'success');
  pipeline.end('lint', 'failed');
  pipeline.end('check', 'success');
  t.deepEqual(pipeline.names, ['compile', 'check', 'lint', 'ship']);
  pipeline.end('ship', 'success');
  t.is(pipeline.status, 'success');
});

test('a failure decides only when the other jobs of its stage have ended', (t) => {
  const pipeline = new SimulatedPipeline(`${line}
slow: {stage: test, script: x}
tell: {stage: deploy, when: on_failure, script: x}
`);
  pipeline.end('compile', 'success');
  pipeline.end('check', 'failed');
  t.deepEqual(pipeline.names, ['compile', 'check', 'slow']);
  t.is(pipeline.status, 'running');
  pipeline.end('slow', 'success');
  t.deepEqual(pipeline.names, ['compile', 'check', 'slow', 'tell']);
});

test('a cancelled build stops the line, always jobs included, until it is retried', (t) => {
  const pipeline = new SimulatedPipeline(`${line}
other: {stage: test, script: x}
sweep: {stage: deploy, when: always, script: x}
`);
  pipeline.end('compile', 'success');
  pipeline.end('check', 'canceled');
  pipeline.end('other', 'success');
  t.deepEqual(pipeline.names, ['compile', 'check', 'other']);
  t.is(pipeline.status, 'canceled');
  pipeline.retry('check');
  t.is(pipeline.status, 'running');
  pipeline.end('check', 'success');
  t.deepEqual(pipeline.names.slice(3), ['check', 'ship', 'sweep']);
});

test('a retry that succeeds lets the line go on', (t) => {
  const pipeline = new SimulatedPipeline(line);
  pipeline.end('compile', 'success');
  pipeline.end('check', 'failed');
  t.is(pipeline.status, 'failed');
  pipeline.retry('check');
  pipeline.end('check', 'success');
  t.deepEqual(pipeline.names, ['compile', 'check', 'check', 'ship']);
});

test('retrying an early build after the end makes no later build a second time', (t) => {
  const pipeline = new SimulatedPipeline(line);
  for (const name of ['compile', 'check', 'ship']) pipeline.end(name, 'success');
  pipeline.retry('compile');
  t.is(pipeline.status, 'running');
  pipeline.end('compile', 'success');
  t.is(pipeline.status, 'success');
  t.deepEqual(pipeline.names, ['compile', 'check', 'ship', 'compile']);
});

test('a stage without jobs for the ref is passed over', (t) => {
  const text = `${line.replace('check: {', 'check: {only: [tags], ')}`;
  const branch = new SimulatedPipeline(text);
  branch.end('compile', 'success');
  t.deepEqual(branch.names, ['compile', 'ship']);
  const tag = new SimulatedPipeline(text, { ref: 'v1', tag: true });
  tag.end('compile', 'success');
  t.deepEqual(tag.names, ['compile', 'check']);
});

test('an on_failure job of the first stage never runs', (t) => {
  const pipeline = new SimulatedPipeline(`
tell: {stage: build, when: on_failure, script: x}
compile: {stage: build, script: x}
`);
  t.deepEqual(pipeline.names, ['compile']);
  pipeline.end('compile', 'failed');
  t.deepEqual(pipeline.names, ['compile']);
});

test('a first stage of nothing but on_failure jobs gives way to the next', (t) => {
  const pipeline = new SimulatedPipeline(`
tell: {stage: build, when: on_failure, script: x}
check: {stage: test, script: x}
`);
  t.deepEqual(pipeline.names, ['check']);
});

test('a job to be started by hand never starts by itself and holds nothing up', (t) => {
  const pipeline = new SimulatedPipeline(`${line}approve: {stage: test, when: manual, script: x}`);
  for (const name of ['compile', 'check', 'ship']) pipeline.end(name, 'success');
  t.deepEqual(pipeline.names, ['compile', 'check', 'ship']);
  t.is(pipeline.status, 'success');
});

test('a broken file has errors and no jobs; the next, mended one runs', (t) => {
  t.true('errors' in parseCiConfig('compile: {stage: nowhere, script: x}'));
  t.deepEqual(new SimulatedPipeline('compile: {stage: build, script: x}').names, ['compile']);
});

test('only the message of the tip asks for no pipeline', (t) => {
  const messages = ['Mend it', 'Mend more', 'Tidy up [CI skip]'];
  t.true(skipMarker(messages.at(-1) ?? ''));
  t.false(skipMarker(messages[0] ?? ''));
});

test('a valid file may have no job for a ref', (t) => {
  const result = parseCiConfig('ship: {script: x, only: [tags]}');
  const context = { ref: 'master', tag: false, trigger: false, projectPath: 'g/p' };
  t.deepEqual('config' in result && jobsForRef(result.config, context), []);
});

test('of two claims one gets the build', (t) => {
  const pipeline = new SimulatedPipeline(line);
  t.deepEqual([pipeline.claim(), pipeline.claim()], [1, null]);
});

test('a success reported after a cancel changes nothing', (t) => {
  const pipeline = new SimulatedPipeline(line);
  pipeline.claim();
  pipeline.end('compile', 'canceled');
  t.false(pipeline.end('compile', 'success'));
  t.is(pipeline.status, 'canceled');
  t.deepEqual(pipeline.names, ['compile']);
});
