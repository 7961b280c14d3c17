import { poll } from './program.ts';

/** What the scenarios look at. */
export interface Build {
  id: number;
  name: string;
  stage: string;
  status: string;
  ref: string;
  tag: boolean;
  runner: { id: number; description: string } | null;
  artifacts_file: { filename: string; size: number } | null;
}

export interface Project {
  id: number;
  path_with_namespace: string;
  runners_token: string;
}

const unfinished = ['pending', 'running'];

/** The interface over HTTP, as one user. */
export class Forge {
  readonly url: string;
  readonly token: string;

  constructor(url: string, token: string) {
    this.url = url;
    this.token = token;
  }

  static async signIn(url: string, credentials: { login: string; password: string }): Promise<Forge> {
    const session = await new Forge(url, '').post<{ private_token: string }>('/session', credentials);
    return new Forge(url, session.private_token);
  }

  get<T>(path: string): Promise<T> {
    return this.#json(path);
  }

  post<T>(path: string, form: Record<string, string> = {}): Promise<T> {
    return this.#json(path, { method: 'POST', body: new URLSearchParams(form) });
  }

  async createProject(name: string): Promise<Project> {
    return this.post('/projects', { name });
  }

  cloneUrl({ path_with_namespace: path }: Project): string {
    return `${this.url.replace('://', `://root:${this.token}@`)}/${path}.git`;
  }

  /** In the order of their ids. */
  async builds({ id }: Project): Promise<Build[]> {
    const builds = await this.get<Build[]>(`/projects/${id}/builds?per_page=100`);
    return builds.sort((a, b) => a.id - b.id);
  }

  build(project: Project, id: number): Promise<Build> {
    return this.get(`/projects/${project.id}/builds/${id}`);
  }

  /** Waits until there are `count` builds and all of them have ended. */
  ended(project: Project, count: number): Promise<Build[]> {
    return poll(`end of ${count} builds`, 120_000, async () => {
      const builds = await this.builds(project);
      return builds.length >= count && builds.every((build) => isEnded(build)) ? builds : null;
    });
  }

  async trace(project: Project, build: Pick<Build, 'id'>): Promise<string> {
    return (await this.#send(`/projects/${project.id}/builds/${build.id}/trace`)).text();
  }

  async artifacts(project: Project, build: Pick<Build, 'id'>): Promise<Buffer> {
    const answer = await this.#send(`/projects/${project.id}/builds/${build.id}/artifacts`);
    return Buffer.from(await answer.arrayBuffer());
  }

  async #json<T>(path: string, request?: RequestInit): Promise<T> {
    return (await this.#send(path, request)).json() as Promise<T>;
  }

  async #send(path: string, request: RequestInit = {}): Promise<Response> {
    const headers = new Headers(this.token === '' ? [] : [['PRIVATE-TOKEN', this.token]]);
    const answer = await fetch(`${this.url}/api/v3${path}`, { ...request, headers });
    if (answer.ok) return answer;
    throw new Error(`${request.method ?? 'GET'} ${path}: ${answer.status} ${await answer.text()}`);
  }
}

export function isEnded({ status }: Pick<Build, 'status'>): boolean {
  return !unfinished.includes(status);
}
