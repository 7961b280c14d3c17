import own from '../../../ava.config.js';

// What run.test.ts runs; these files are no tests of Hearth.
export default { ...own, files: ['test/server/run-samples/*.sample.ts'] };
