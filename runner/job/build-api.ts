import type { Readable } from 'node:stream';

/** Answer to one part of the trace. */
export type TraceAnswer =
  | { kind: 'stored'; status: string | null }
  /** The server has another length, in bytes; null when it did not say which. */
  | { kind: 'out_of_order'; length: number | null }
  /** The build is not ours any more. */
  | { kind: 'gone' }
  /** Nothing is there to take parts; the build itself may be. */
  | { kind: 'no_parts' }
  /** Anything that may pass: no connection, a server error. */
  | { kind: 'unavailable'; reason: string };

export type StateAnswer = { kind: 'done' } | { kind: 'gone' } | { kind: 'unavailable'; reason: string };

export interface StateReport {
  state: 'running' | 'success' | 'failed';
  /** Replaces the whole stored trace. */
  trace?: string;
}

export interface ArtifactsUpload {
  filename: string;
  expireIn?: string;
  /** Makes the archive anew for each try; the reader destroys it when it gives up. */
  content(): Readable;
  signal: AbortSignal;
}

export interface ArtifactsDownload {
  buildId: number;
  token: string;
  /** File that is written, or overwritten. */
  file: string;
  signal: AbortSignal;
}

/** What a running build asks of the server. Uploads and downloads repeat passing faults by themselves. */
export interface BuildApi {
  appendTrace(part: { offset: number; bytes: Buffer }): Promise<TraceAnswer>;
  updateState(report: StateReport): Promise<StateAnswer>;
  /** @throws Error with a text for the trace when the server refuses or stays away. */
  uploadArtifacts(upload: ArtifactsUpload): Promise<void>;
  /** @throws Error with a text for the trace when there is nothing, or the server stays away. */
  downloadArtifacts(download: ArtifactsDownload): Promise<void>;
}
