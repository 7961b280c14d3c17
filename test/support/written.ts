import type { TestApp } from './app.ts';

export interface MadeThing {
  id: number;
  iid: number;
}

interface Written {
  author?: { id: number };
  title?: string;
  /** Other columns of the table, as they are called there. */
  columns?: Record<string, unknown>;
}

interface Place {
  id: number;
  owner: { id: number };
}

/** Writes what people write into projects as rows, past the API. */
export class Writings {
  readonly #app: () => TestApp;

  constructor(app: () => TestApp) {
    this.#app = app;
  }

  async issue(project: Place, { author = project.owner, title = 'An issue', columns = {} }: Written = {}) {
    const iid = await this.#number(project, 'last_issue_iid');
    const row = { project_id: project.id, author_id: author.id, iid, title, ...columns };
    return { id: await this.#insert('issues', row), iid };
  }

  async mergeRequest(
    project: Place,
    { author = project.owner, title = 'A request', columns = {} }: Written = {},
  ): Promise<MadeThing> {
    const iid = await this.#number(project, 'last_merge_request_iid');
    const branches = {
      source_project_id: project.id,
      source_branch: `branch-${iid}`,
      target_branch: 'master',
    };
    const row = { project_id: project.id, author_id: author.id, iid, title, ...branches, ...columns };
    return { id: await this.#insert('merge_requests', row), iid };
  }

  /** Private, unless told. */
  async snippet(
    project: Place,
    { author = project.owner, title = 'A snippet', columns = {} }: Written = {},
  ): Promise<MadeThing> {
    const content = { file_name: 'a.rb', content: 'puts 1' };
    const row = { project_id: project.id, author_id: author.id, title, ...content, ...columns };
    const id = await this.#insert('snippets', row);
    return { id, iid: id };
  }

  async #number(project: Place, counter: string): Promise<number> {
    const [row] = await this.#app().rows<{ iid: number }>(
      `update projects set ${counter} = ${counter} + 1 where id = $1 returning ${counter} as iid`,
      [project.id],
    );
    return row?.iid ?? 0;
  }

  async #insert(table: string, columns: Record<string, unknown>): Promise<number> {
    const names = Object.keys(columns);
    const places = names.map((_, index) => `$${index + 1}`);
    const [row] = await this.#app().rows<{ id: number }>(
      `insert into ${table} (${names.join(', ')}) values (${places.join(', ')}) returning id`,
      Object.values(columns),
    );
    return row?.id ?? 0;
  }
}
