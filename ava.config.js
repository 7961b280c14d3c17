/** They take minutes, one of them asleep: begun first, they are over before the others are. */
const longOnes = /(?:long-outage|random-requests(?:-admin)?)\.test\.ts$/;

/**
 * @param {string} a
 * @param {string} b
 */
function longOnesFirst(a, b) {
  return Number(longOnes.test(b)) - Number(longOnes.test(a)) || a.localeCompare(b);
}

// One process per test file: worker threads cannot load TypeScript through tsx on Node 20.
export default {
  files: ['test/**/*.test.ts'],
  extensions: { ts: 'module' },
  nodeArguments: ['--import=tsx'],
  workerThreads: false,
  timeout: '3m',
  sortTestFiles: longOnesFirst,
};
