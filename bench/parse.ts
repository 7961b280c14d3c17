import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { parseCiConfig } from '../server/ci/parse.ts';
import { type BenchmarkSettings, cost, type Figure } from './figure.ts';
import { elapsed, takeTurns } from './support/measure.ts';

/** CI files of real projects, where they lie beside the repository. */
const corpus = new URL('../../shared/corpus/gitlab-ci/', import.meta.url);
const largest = 5;

/** CI files to a plan, beside reading their YAML. */
export async function parse({ scale }: BenchmarkSettings): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, text } of files()) {
    const repeats = Math.max(5, Math.round((1_000_000 * scale) / text.length));
    const turn = (read: (text: string) => unknown) => async () => {
      const ms = await elapsed(async () => {
        for (let repeat = 0; repeat < repeats; repeat += 1) read(text);
      });
      return ms / repeats;
    };
    const sides = { ours: turn(parseCiConfig), limit: turn(parseYaml) };
    await takeTurns({ rounds: 1, ...sides });
    const pair = await takeTurns({ rounds: 5, ...sides });
    figures.push(cost({ name: `parse, ${name}`, unit: 'ms', ...pair }, 3));
  }
  return figures;
}

function parseYaml(text: string): unknown {
  return parseDocument(text, { uniqueKeys: false, logLevel: 'silent' });
}

/** The largest that are read to their end: what is refused half way says nothing of the rest. */
function files(): { name: string; text: string }[] {
  const generated = { name: '1,000 generated lines', text: generate(1000) };
  if (!existsSync(corpus)) return [generated];
  const real = readdirSync(corpus)
    .filter((name) => name.endsWith('.yml'))
    .map((name) => ({ name, text: readFileSync(new URL(name, corpus), 'utf8') }))
    .filter(({ text }) => 'config' in parseCiConfig(text))
    .sort((a, b) => b.text.length - a.text.length);
  return [generated, ...real.slice(0, largest)];
}

function generate(lines: number): string {
  const jobs = ['stages: [build, test]', 'variables: { LEVEL: "3" }', 'before_script:', '  - ./prepare'];
  for (let number = 0; jobs.length < lines; number += 1) {
    jobs.push(
      `job ${number}:`,
      `  stage: ${number % 2 === 0 ? 'build' : 'test'}`,
      '  script:',
      `    - make part-${number} LEVEL="$LEVEL"`,
      '    - ./check --all --with "a long list of words"',
      '  tags: [linux, large]',
      '  only:',
      '    - master',
      '    - /^release-.*$/',
      '  artifacts: { paths: [out/, "*.log"], expire_in: 1 week }',
    );
  }
  return `${jobs.join('\n')}\n`;
}
