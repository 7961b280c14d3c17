/** Sleeps for minutes: begun first, it is over before the others are. */
const sleeper = /long-outage\.test\.ts$/;

/**
 * @param {string} a
 * @param {string} b
 */
function sleeperFirst(a, b) {
  return Number(sleeper.test(b)) - Number(sleeper.test(a)) || a.localeCompare(b);
}

// One process per test file: worker threads cannot load TypeScript through tsx on Node 20.
export default {
  files: ['test/**/*.test.ts'],
  extensions: { ts: 'module' },
  nodeArguments: ['--import=tsx'],
  workerThreads: false,
  timeout: '3m',
  sortTestFiles: sleeperFirst,
};
