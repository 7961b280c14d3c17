import { cpus, totalmem } from 'node:os';
import type { Figure } from './figure.ts';

const widths = { name: 34, ours: 14, limit: 14, ratio: 9, target: 10 };

/** What was measured on, and the names of the columns. */
export function heading(scale: number): string {
  const size = scale === 1 ? '' : ` · scale ${scale}: targets are for 1`;
  return `${machine()}${size}\n${row(['name', 'ours', 'limit', 'ratio', 'target'])}\n`;
}

export function line(figure: Figure): string {
  const { name, unit, ours, limit, ratio, target, isMet } = figure;
  const sign = target.includes('+') && ratio >= 0 ? '+' : '';
  const cells = [name, `${short(ours)} ${unit}`, `${short(limit)} ${unit}`, `${sign}${short(ratio)}`, target];
  return `${row(cells)}${isMet ? '' : ' · MISSED'}\n`;
}

export function machine(): string {
  const all = cpus();
  const memory = Math.round(totalmem() / 1024 ** 3);
  return `${all.length} × ${all[0]?.model.trim() ?? 'unknown'}, ${memory} GiB, Node ${process.versions.node}`;
}

function row(cells: string[]): string {
  const [name = '', ...rest] = cells;
  const [ours, limit, ratio, target] = Object.values(widths).slice(1);
  const places = [ours, limit, ratio, target];
  return [name.padEnd(widths.name), ...rest.map((cell, index) => cell.padStart(places[index] ?? 0))].join(
    ' · ',
  );
}

/** Three digits that count, and no less than the whole number. */
function short(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}
