import type { RunnerClient } from './client.ts';
import type { BuildApi } from './job/build-api.ts';

export interface BuildCredentials {
  buildId: number;
  buildToken: string;
  runnerToken: string;
}

/** The calls that one build needs, with its tokens filled in. */
export function buildClient(client: RunnerClient, credentials: BuildCredentials): BuildApi {
  const { buildId, buildToken, runnerToken } = credentials;
  return {
    appendTrace: (part) => client.appendTrace({ ...part, buildId, token: buildToken }),
    updateState: (report) => client.updateBuild({ ...report, buildId, token: runnerToken }),
    uploadArtifacts: (upload) => client.uploadArtifacts({ ...upload, buildId, token: buildToken }),
    downloadArtifacts: (download) => client.downloadArtifacts(download),
  };
}
