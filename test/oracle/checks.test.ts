import test from 'ava';
import { checkCase, checkDuration, checkFile, checkScalar } from './checks.ts';
import { LiteralReader } from './ruby-literal.ts';

const job =
  'a@one(0) cmd="x\\ny" opt={:image=>"gcc", :artifacts=>{:paths=>["o"], :name=>nil}} af=false when=always tags=["t"]';
const yaml =
  'stages: [one]\na: {stage: one, script: [x, y], image: gcc, artifacts: {paths: [o]}, when: always, tags: [t]}';

function verdictOn(text: string, recorded: string): string | null {
  return checkCase({ name: 'n', yaml: text, v8_9: recorded });
}

test('a file that comes out as recorded is fine, and any difference is found', (t) => {
  const recorded = `OK ${job} stages=["one"]`;
  t.is(verdictOn(yaml, recorded), null);
  for (const [from, to] of [
    ['gcc', 'clang'],
    ['[x, y]', '[x, z]'],
    ['always', 'on_failure'],
    ['[t]', '[t, u]'],
    ['[one]', '[one, two]'],
    ['paths', 'untracked: true, paths'],
    ['a: {', 'b: {'],
    ['when', 'allow_failure: true, when'],
  ] as const) {
    t.regex(verdictOn(yaml.replace(from, to), recorded) ?? '', /^got .*wanted/, from);
  }
  t.regex(verdictOn('a: {', recorded) ?? '', /^refused: /);
});

test('several jobs are told apart, and a stage given as null is the default one', (t) => {
  const two =
    'a@build(0) cmd="x" opt={} af=false when=on_success tags=[] | b@(nil) cmd="y" opt={} af=true when=on_success tags=[]';
  const recorded = `OK ${two} stages=["build", "test", "deploy"]`;
  t.is(
    verdictOn('a: {script: x, stage: build}\nb: {script: y, stage: , allow_failure: yes}', recorded),
    null,
  );
  t.not(
    verdictOn('a: {script: x, stage: build}\nb: {script: y, stage: deploy, allow_failure: yes}', recorded),
    null,
  );
});

test('a refused file must be refused for its reason, or taken by a rule', (t) => {
  const old = 'VERR image job: tags parameter should be an array';
  t.is(verdictOn('image job: {script: x, tags: [1]}', old), null);
  t.regex(verdictOn('image job: {script: x, tags: [a]}', old) ?? '', /^taken/);
  t.regex(verdictOn('image job: {script: x, when: 1}', old) ?? '', /^refused for when.value/);
  t.is(verdictOn('a: {script: [1]}', 'VERR a job: script should be'), null);
  t.regex(verdictOn('a: {script: x}', 'VERR of a new kind') ?? '', /^no rule/);
});

test('counts of whole files are compared, and only unsupported keys may refuse one', (t) => {
  const record = { file: 'f', repo: 'g/p', real_8_9: 'OK jobs=2 stages=3 onmaster=2 ontag=1' };
  t.is(checkFile(record, 'a: {script: x}\nb: {script: y, only: [branches@g/p]}'), null);
  t.regex(checkFile(record, 'a: {script: x}\nb: {script: y}') ?? '', /ontag=2/);
  const refused = { ...record, real_8_9: 'VERR something' };
  t.is(checkFile(refused, 'a: {script: x, rules: []}'), null);
  t.regex(checkFile(refused, 'a: {script: x, tags: y, rules: []}') ?? '', /tags/);
});

test('durations and scalars are compared', (t) => {
  t.is(checkDuration('"2 min" => 120'), null);
  t.is(checkDuration('"" => nil'), null);
  t.is(checkDuration('"3 moons" => ERROR'), null);
  t.not(checkDuration('"2 min" => 121'), null);
  t.is(checkScalar('"17" => 17 (Integer)'), null);
  t.is(checkScalar('"On" => true (TrueClass)'), null);
  t.is(checkScalar('"1e9" => "1e9" (String)'), null);
  t.is(checkScalar('":a" => :a (Symbol)'), null);
  t.not(checkScalar('"17" => "17" (String)'), null);
  t.not(checkScalar('"abc" => true (TrueClass)'), null);
});

test('printed values are read', (t) => {
  const text = '{:a=>"q\\"\\\\\\u00e4\\e", :b=>[1, nil, true, :s], :c=>{}}';
  t.deepEqual(new LiteralReader(text).read(), { a: 'q"\\ä\x1b', b: [1, null, true, 's'], c: {} });
  t.throws(() => new LiteralReader('?').read());
});
