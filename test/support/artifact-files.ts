import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestApp } from './app.ts';
import type { FormPart } from './raw-http.ts';

/** The part of a form that holds the artifacts. */
export function zip(content: FormPart['content'], filename = 'artifacts.zip'): FormPart {
  return { name: 'file', filename, content };
}

/** Every file of the blob folder, the half-written ones too. */
export async function blobsOf(app: TestApp): Promise<string[]> {
  const root = join(app.services.repositoriesDir, '../blobs');
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name)).sort();
}

/** Largest artifacts of the instance. */
export async function limitArtifacts(app: TestApp, megabytes: number): Promise<void> {
  await app.rows('update settings set max_artifacts_size = $1', [megabytes]);
}
