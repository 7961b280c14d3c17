import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';

const FAULTS =
  /^ {2}(\d+) (?:tests? failed|hooks? failed|uncaught exceptions?|unhandled rejections?|tests? remained pending)/;

/**
 * Counts results in what ava prints. Its closing summary names the passed tests only when nothing failed, so those
 * are counted by their own lines. The lines of those that failed are kept.
 */
export function resultCounter() {
  const decoder = new StringDecoder('utf8');
  const counts = { passed: 0, failed: 0, skipped: 0 };
  /** @type {string[]} */
  const failures = [];
  let rest = '';

  /** @param {string} line */
  function addLine(line) {
    if (/^ {2}✔ /.test(line)) counts.passed += 1;
    else if (/^ {2}✘ /.test(line)) failures.push(line);
    else if (/^ {2}\d+ tests? skipped$/.test(line)) counts.skipped += Number.parseInt(line, 10);
    else counts.failed += Number(FAULTS.exec(line)?.[1] ?? 0);
  }

  return {
    /** @param {Buffer} chunk */
    add(chunk) {
      const lines = (rest + decoder.write(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) addLine(stripVTControlCharacters(line).trimEnd());
    },
    /**
     * A run that ended badly without a failed test (a file that crashed at its end) counts as one failure.
     * @param {boolean} endedWell
     */
    results(endedWell) {
      const unseen = !endedWell && counts.failed === 0 && counts.passed + counts.skipped > 0;
      return { ...counts, failed: unseen ? 1 : counts.failed, failures };
    },
  };
}
