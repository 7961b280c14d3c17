import { storeUpload } from '../actions/store-upload.ts';
import { missing } from '../errors.ts';
import { onProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { readUpload } from '../http/upload.ts';
import { presentUpload, UploadJson } from '../present/upload.ts';

const post = endpoint({
  method: 'POST',
  path: '/projects/:id/uploads',
  summary: 'Stores a file, sent as a form, for texts of the project to show or link to',
  access: onProject('upload_file'),
  returns: UploadJson,
  body: 'stream',
  // The bytes are stored before anything refers to them.
  transaction: false,
  async run({ viewer, project, work, header, stream }) {
    const place = { projectId: project.id, uploaderId: viewer.id };
    const stored = await readUpload(stream, header('content-type'), ({ stream: file, filename }) =>
      storeUpload(work, { ...place, file, filename }),
    );
    if (!stored) throw missing('file');
    return presentUpload(stored);
  },
});

export const endpoints: Endpoint[] = [post];
