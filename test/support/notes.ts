import type { Answer, CallOptions, TestApp } from './app.ts';
import type { MadeProject, MadeUser } from './make.ts';

export interface NoteBody {
  id: number;
  body: string;
  attachment: null;
  author: { id: number; username: string };
  created_at: string;
  updated_at: string;
  system: boolean;
  upvote: boolean;
  downvote: boolean;
  noteable_id: number;
  noteable_type: string;
}

export const parents = ['issues', 'snippets', 'merge_requests'] as const;
export type ParentPath = (typeof parents)[number];

/** Columns of a project in which everything can be talked of. */
export const everythingOn = { snippets_enabled: true };

/** A new thing of a project, of the owner unless told. Snippets are for everybody who reads the project. */
export async function makeParent(
  { make }: TestApp,
  project: MadeProject,
  kind: ParentPath,
  author: { id: number } = project.owner,
): Promise<number> {
  if (kind === 'snippets') return make.snippet(project, { author, columns: { visibility_level: 10 } });
  const { id } = await (kind === 'issues'
    ? make.issue(project, { author })
    : make.mergeRequest(project, { author }));
  return id;
}

/** What is said of one thing, over HTTP. */
export class NotesOf {
  readonly #app: TestApp;
  readonly path: string;
  readonly #as: MadeUser;

  constructor(
    app: TestApp,
    project: MadeProject,
    place: { kind: ParentPath; id: number },
    as = project.owner,
  ) {
    this.#app = app;
    this.path = `/api/v3/projects/${project.id}/${place.kind}/${place.id}/notes`;
    this.#as = as;
  }

  post(body: string, as: MadeUser = this.#as, more: object = {}): Promise<Answer<NoteBody>> {
    return this.#call('POST', '', { as: as.token, json: { body, ...more } });
  }

  list(as: MadeUser = this.#as, query: Record<string, string> = {}): Promise<Answer<NoteBody[]>> {
    return this.#call('GET', '', { as: as.token, query });
  }

  get(id: number, as: MadeUser = this.#as): Promise<Answer<NoteBody>> {
    return this.#call('GET', `/${id}`, { as: as.token });
  }

  put(id: number, body: string, as: MadeUser = this.#as): Promise<Answer<NoteBody>> {
    return this.#call('PUT', `/${id}`, { as: as.token, json: { body } });
  }

  remove(id: number, as: MadeUser = this.#as): Promise<Answer<NoteBody>> {
    return this.#call('DELETE', `/${id}`, { as: as.token });
  }

  #call<T>(method: string, path: string, options: CallOptions): Promise<Answer<T>> {
    return this.#app.call<T>(method, `${this.path}${path}`, options);
  }
}

export interface NoteScene {
  project: MadeProject;
  /** Of the thing. */
  id: number;
  notes: NotesOf;
  /** The row of the thing. */
  row(): Promise<Record<string, unknown>>;
}

/** Makes projects with one thing to talk of, an issue unless told. */
export function noteScenes(current: () => TestApp) {
  return async (
    kind: ParentPath = 'issues',
    given: Parameters<TestApp['make']['project']>[0] = {},
  ): Promise<NoteScene> => {
    const app = current();
    const project = await app.make.project({ ...given, columns: { ...everythingOn, ...given.columns } });
    const id = await makeParent(app, project, kind);
    const text = `select * from ${kind} where id = $1`;
    const row = async () => (await app.rows<Record<string, unknown>>(text, [id]))[0] ?? {};
    return { project, id, notes: new NotesOf(app, project, { kind, id }), row };
  };
}
