import { readFile, writeFile } from 'node:fs/promises';
import type { Figure } from './figure.ts';
import { machine } from './report.ts';

const file = new URL('results.json', import.meta.url);

export interface Result {
  name: string;
  scale: number;
  figures: Figure[];
}

/** Writes what a benchmark found beside what the others found earlier. */
export async function keep(result: Result): Promise<void> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw error;
  });
  const { name, ...rest } = result;
  const all = { ...JSON.parse(text), [name]: { at: new Date().toISOString(), machine: machine(), ...rest } };
  await writeFile(file, `${JSON.stringify(all, null, 2)}\n`);
}
