import test from 'ava';
import { type LatestBuild, nextJobs, type PlannedJob } from '../../server/ci/next-builds.ts';

function job(name: string, stageIndex: number, when: PlannedJob['when'] = 'on_success'): PlannedJob {
  return { name, stageIndex, when };
}

function build(name: string, stageIndex: number, status: LatestBuild['status']): LatestBuild {
  return { name, stageIndex, status, allowFailure: false };
}

test('the first call starts the first stage that has jobs, in the order of the plan', (t) => {
  t.deepEqual(nextJobs({ jobs: [job('c', 2), job('b', 1), job('a', 1)], builds: [] }), ['b', 'a']);
  t.deepEqual(nextJobs({ jobs: [], builds: [] }), []);
});

test('nothing starts while an earlier stage is unfinished', (t) => {
  const jobs = [job('a', 0), job('b', 1), job('c', 2, 'always')];
  t.deepEqual(nextJobs({ jobs, builds: [build('a', 0, 'pending')] }), []);
  t.deepEqual(nextJobs({ jobs, builds: [build('a', 0, 'running')] }), []);
});

test('asking twice gives no name that has a build', (t) => {
  const jobs = [job('a', 0), job('b', 1), job('c', 1)];
  t.deepEqual(nextJobs({ jobs, builds: [build('a', 0, 'success'), build('b', 1, 'pending')] }), ['c']);
  t.deepEqual(
    nextJobs({ jobs: jobs.slice(0, 2), builds: [build('a', 0, 'success'), build('b', 1, 'pending')] }),
    [],
  );
});

test('an early retry does not start a stage whose predecessor is still running', (t) => {
  const jobs = [job('a', 0), job('b', 1), job('c', 2)];
  t.deepEqual(nextJobs({ jobs, builds: [build('a', 0, 'success'), build('b', 1, 'running')] }), []);
});

test('a cancelled and a failed build count as failed together', (t) => {
  const jobs = [job('a', 0), job('b', 0), job('c', 1, 'always'), job('d', 1, 'on_failure'), job('e', 1)];
  t.deepEqual(nextJobs({ jobs, builds: [build('a', 0, 'failed'), build('b', 0, 'canceled')] }), ['c', 'd']);
});
