import { type Answer, type TestApp, withApp } from './app.ts';
import { cloneUrl, type WorkTree, withWorkTrees } from './git.ts';
import type { MadeProject } from './make.ts';
import { PlayedRunner } from './played-runner.ts';

export interface BuildJson {
  id: number;
  name: string;
  stage: string;
  status: string;
  commit: { id: string };
}

/** A project with one runner of its own, to which files are pushed. */
export class Scene {
  readonly app: TestApp;
  readonly project: MadeProject;
  readonly tree: WorkTree;
  readonly runner: PlayedRunner;

  constructor(parts: { app: TestApp; project: MadeProject; tree: WorkTree; runner: PlayedRunner }) {
    this.app = parts.app;
    this.project = parts.project;
    this.tree = parts.tree;
    this.runner = parts.runner;
  }

  get url(): string {
    return cloneUrl(this.app, this.project, { password: this.project.owner.token });
  }

  async push(
    ciFile: string,
    { message, to = 'master' }: { message?: string; to?: string } = {},
  ): Promise<string> {
    const sha = await this.tree.commit({ '.gitlab-ci.yml': ciFile }, message);
    await this.tree.git('push', '--quiet', this.url, `HEAD:${to}`);
    return sha;
  }

  /** Oldest first. */
  async builds(): Promise<BuildJson[]> {
    const { body } = await this.call<BuildJson[]>('GET', '/builds?per_page=100');
    return body.reverse();
  }

  /** `name: status` of every build, oldest first. */
  async states(): Promise<string[]> {
    return (await this.builds()).map(({ name, status }) => `${name}: ${status}`);
  }

  /** States of the pipelines, oldest first. */
  async pipelines(): Promise<string[]> {
    const rows = await this.app.rows<{ status: string }>(
      'select status from pipelines where project_id = $1 order by id',
      [this.project.id],
    );
    return rows.map(({ status }) => status);
  }

  /** A call about the project, as its owner. */
  call<T>(method: 'GET' | 'POST', rest: string, json?: Record<string, unknown>): Promise<Answer<T>> {
    return this.app.call<T>(method, `/api/v3/projects/${this.project.id}${rest}`, {
      as: this.project.owner.token,
      json,
    });
  }

  /** Cancels or retries the newest build of a name, as the owner. */
  async act(verb: 'cancel' | 'retry', name: string): Promise<BuildJson> {
    const build = (await this.builds()).findLast((candidate) => candidate.name === name);
    const answer = await this.call<BuildJson>('POST', `/builds/${build?.id}/${verb}`);
    if (answer.status !== 201) throw new Error(`${verb} ${name}: ${answer.status}`);
    return answer.body;
  }
}

/** Makes projects to push to, on an application of its own. Call at the top of the file. */
export function withScenes() {
  const holder = withApp();
  const trees = withWorkTrees();
  async function scene(): Promise<Scene> {
    const { app } = holder;
    const project = await app.make.project();
    const runner = new PlayedRunner(app, await app.make.runner({ projects: [project] }));
    return new Scene({ app, project, runner, tree: await trees.fresh() });
  }
  return { trees, scene };
}
