import test from 'ava';
import { skipMarker } from '../../server/ci/skip-marker.ts';

for (const message of ['[ci skip]', 'Fix typo [skip ci]', 'Title\n\nbody [CI Skip] more', '[SKIP CI]']) {
  test(`asks for no pipeline: ${JSON.stringify(message)}`, (t) => t.true(skipMarker(message)));
}

for (const message of ['', 'ci skip', '[ci-skip]', '[ci skip', 'skip [ci]', '[no ci skip]']) {
  test(`asks for nothing: ${JSON.stringify(message)}`, (t) => t.false(skipMarker(message)));
}
