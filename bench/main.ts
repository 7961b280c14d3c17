// `npm run bench [NAME…]`: measures the program beside the limits of what it stands on.
import { artifact } from './artifact.ts';
import { claim } from './claim.ts';
import { clone } from './clone.ts';
import { type Benchmark, type Figure, Skipped } from './figure.ts';
import { get } from './get.ts';
import { history } from './history.ts';
import { latency } from './latency.ts';
import { list } from './list.ts';
import { parse } from './parse.ts';
import { heading, line } from './report.ts';
import { keep } from './results.ts';
import { runner } from './runner.ts';
import { start } from './start.ts';
import { trace } from './trace.ts';
import { tree } from './tree.ts';

const benchmarks: Record<string, Benchmark> = {
  claim,
  list,
  get,
  tree,
  trace,
  artifact,
  clone,
  history,
  runner,
  latency,
  parse,
  start,
};

process.exitCode = await main(process.argv.slice(2), process.env.BENCH_SCALE);

/** @returns the exit code: 1 when a benchmark could not run, 2 for a wrong command. A missed target is no fault. */
async function main(given: string[], givenScale = '1'): Promise<number> {
  const scale = Number(givenScale);
  const unknown = given.filter((name) => !Object.hasOwn(benchmarks, name));
  if (unknown.length > 0 || !(scale > 0)) {
    if (!(scale > 0))
      process.stderr.write(`bench: BENCH_SCALE is "${givenScale}", expected a number above 0\n`);
    for (const name of unknown) process.stderr.write(`bench: there is no benchmark "${name}"\n`);
    process.stderr.write(`bench: there are ${Object.keys(benchmarks).join(', ')}\n`);
    return 2;
  }
  process.stdout.write(heading(scale));
  let code = 0;
  for (const name of given.length > 0 ? given : Object.keys(benchmarks)) {
    const figures = await measure(name, scale);
    if (!figures) code = 1;
    else if (figures.length > 0) await keep({ name, scale, figures });
  }
  return code;
}

/** @returns null when it failed; no figures when something that it needs is not here. */
async function measure(name: string, scale: number): Promise<Figure[] | null> {
  try {
    const figures = (await benchmarks[name]?.({ scale })) ?? [];
    for (const figure of figures) process.stdout.write(line(figure));
    return figures;
  } catch (error) {
    if (error instanceof Skipped) {
      process.stdout.write(`${name} · SKIPPED: ${error.message}\n`);
      return [];
    }
    process.stderr.write(`bench: ${name} could not run: ${(error as Error).stack}\n`);
    return null;
  }
}
