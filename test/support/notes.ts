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
