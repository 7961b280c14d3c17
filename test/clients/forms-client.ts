import type { ExecutionContext } from 'ava';
import { loadClient, type Place } from './client-test.ts';

/** A body. */
export interface Handed {
  [key: string]: unknown;
  id: number;
}
/** Every resource has these; some have more. Path parameters stand among the others. */
type Method = 'list' | 'get' | 'create' | 'update' | 'remove';
type Send = (params: Record<string, unknown>) => Promise<unknown>;
type Resource<More extends string = never> = Record<Method | More, Send>;

interface Client {
  users: Resource;
  groups: Resource<'transferProject'>;
  groupMembers: Resource;
  projects: Resource<'search' | 'fork' | 'listEvents'>;
  projectMembers: Resource;
  hooks: Resource;
  globalHooks: Resource;
  deployKeys: Resource;
  issues: Resource<'listNotes' | 'createNote' | 'getNote' | 'updateNote'>;
  mergeRequests: Resource<'listNotes' | 'createNote' | 'getNote' | 'updateNote' | 'merge'>;
  milestones: Resource<'listIssues'>;
  repository: Resource<
    | 'getBranches'
    | 'protectBranch'
    | 'unprotectBranch'
    | 'getBranch'
    | 'getTags'
    | 'getCommits'
    | 'getTree'
    | 'getBlob'
    | 'archive'
    | 'compare'
  >;
  repositoryBranches: Resource;
  repositoryFiles: Resource;
}

type Callback = (error: unknown, result: unknown) => void;
type Call = (params: Record<string, unknown>, callback: Callback) => void;
/** Some calls are left out of what it makes promises of. */
interface CallbackClient {
  repository: Record<'createTag' | 'getRawBlob', Call>;
}

interface Options {
  api: string;
  privateToken: string;
  requestTimeout: number;
}

interface Package {
  create(options: Options): CallbackClient;
  createPromise(options: Options): Client;
}

const library = loadClient<Package>('node-gitlab');

/** Signed in as the administrator. */
export function client(place: Place): Client {
  return load().createPromise(optionsFor(place));
}

/** A call that this client has with a callback alone. */
export function callback(
  place: Place,
  name: keyof CallbackClient['repository'],
  params: Record<string, unknown>,
): Promise<unknown> {
  const { repository } = load().create(optionsFor(place));
  return new Promise((resolve, reject) => {
    repository[name](params, (error, result) => (error ? reject(error) : resolve(result)));
  });
}

/** What was sent for, as an object. */
export async function one(sent: Promise<unknown>): Promise<Handed> {
  return (await sent) as Handed;
}

/** What was sent for, as a list. @throws Error when it is none. */
export async function many(sent: Promise<unknown>): Promise<Handed[]> {
  const found = await sent;
  if (Array.isArray(found)) return found;
  throw new Error(`no list but ${JSON.stringify(found)}`);
}

/** The client rejects with an error that names the status. */
export async function refused(t: ExecutionContext, sent: Promise<unknown>, status: number): Promise<void> {
  const error = await t.throwsAsync(sent);
  t.is((error as Error & { statusCode?: number }).statusCode, status);
}

/** Its own, without a repository's first commit. */
export function makeProject(place: Place, more: Record<string, unknown> = {}): Promise<Handed> {
  return one(client(place).projects.create({ name: place.name('shop'), ...more }));
}

function load(): Package {
  if (!library) throw new Error('not installed');
  return library;
}

function optionsFor({ api, token }: Place): Options {
  // Its own patience is 5 s, which a machine that does much else at a time may need.
  return { api, privateToken: token, requestTimeout: 60_000 };
}
