import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';

export interface UploadRow {
  project_id: number;
  filename: string;
  blob_key: string;
}

/** The file with this secret in its address, whoever asks. */
export async function uploadBySecret(em: EntityManager, secret: string): Promise<UploadRow | null> {
  return sqlOne<UploadRow>(em, 'select project_id, filename, blob_key from uploads where secret = $1', [
    secret,
  ]);
}
