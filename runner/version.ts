import { readFileSync } from 'node:fs';
import type { RunnerInfo } from '../shared/protocol/runner.ts';

const manifest: { version: string } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

export const version = manifest.version;

/** What this program tells the server of itself. */
export const runnerInfo: RunnerInfo = {
  name: 'hearth-runner',
  version,
  platform: process.platform,
  architecture: process.arch,
};
