import { z } from 'zod';

/** Interface: "Repository file". */
export const RepositoryFileJson = z.strictObject({
  file_name: z.string(),
  file_path: z.string(),
  size: z.int(),
  encoding: z.literal('base64'),
  content: z.string(),
  ref: z.string(),
  blob_id: z.string(),
  commit_id: z.string(),
  last_commit_id: z.string(),
});
export type RepositoryFileJson = z.infer<typeof RepositoryFileJson>;

export interface RepositoryFile {
  /** From the root of the repository. */
  path: string;
  content: Buffer;
  /** As it was asked for. */
  ref: string;
  blobId: string;
  /** What the ref leads to. */
  commitId: string;
  /** The last one that changed the file. */
  lastCommitId: string;
}

export function presentRepositoryFile(file: RepositoryFile): RepositoryFileJson {
  return {
    file_name: file.path.slice(file.path.lastIndexOf('/') + 1),
    file_path: file.path,
    size: file.content.length,
    encoding: 'base64',
    content: file.content.toString('base64'),
    ref: file.ref,
    blob_id: file.blobId,
    commit_id: file.commitId,
    last_commit_id: file.lastCommitId,
  };
}
