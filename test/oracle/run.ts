// Compares the reader of CI files with records of the one these files were written for: a folder with
// `oracle/` and `corpus/gitlab-ci/` as argument. One line per difference, then a summary.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CaseRecord,
  checkCase,
  checkDuration,
  checkFile,
  checkScalar,
  type FileRecord,
} from './checks.ts';

const folder = process.argv[2];
if (folder === undefined) throw new Error('needs the folder with the records');

let failures = 0;
const counts: string[] = [];

function checkAll<T>(
  what: string,
  items: T[],
  check: (item: T) => [name: string, fault: string | null],
): void {
  for (const item of items) {
    const [name, fault] = check(item);
    if (fault === null) continue;
    failures += 1;
    process.stdout.write(`${what} ${name}: ${fault.replaceAll('\n', ' ')}\n`);
  }
  counts.push(`${items.length} ${what}s`);
}

function readText(...path: string[]): string {
  return readFileSync(join(String(folder), ...path), 'utf8');
}

function linesOf(...path: string[]): string[] {
  return readText(...path)
    .split('\n')
    .filter((line) => line.startsWith('"'));
}

const cases: CaseRecord[] = JSON.parse(readText('oracle', 'ci-config-cases.json'));
checkAll('case', cases, (item) => [item.name, checkCase(item)]);
const files: FileRecord[] = JSON.parse(readText('corpus', 'gitlab-ci', 'manifest.json'));
checkAll('file', files, (item) => [item.file, checkFile(item, readText('corpus', 'gitlab-ci', item.file))]);
checkAll('duration', linesOf('oracle', 'durations.txt'), (line) => [line, checkDuration(line)]);
checkAll('scalar', linesOf('oracle', 'yaml-scalars.txt'), (line) => [line, checkScalar(line)]);

process.stdout.write(`${counts.join(', ')}: ${failures === 0 ? 'all as recorded' : `${failures} differ`}\n`);
process.exitCode = failures === 0 ? 0 : 1;
