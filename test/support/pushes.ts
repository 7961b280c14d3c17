import { repositoryDir } from '../../server/git/repository-path.ts';
import { withApp } from './app.ts';
import { cloneUrl, type WorkTree, withWorkTrees } from './git.ts';
import type { MadeProject } from './make.ts';

export const ciFile = 'compile: {stage: build, script: make}\ncheck: {script: make check}\n';

export interface Pushed {
  project: MadeProject;
  url: string;
  dir: string;
  tree: WorkTree;
}

interface PipelineRow {
  ref: string;
  tag: boolean;
  sha: string;
  before_sha: string;
  status: string;
  yaml_errors: string | null;
  user_id: number | null;
}

interface EventRow {
  action: string;
  ref: string;
  author_id: number;
  data: {
    before: string;
    after: string;
    ref: string;
    user_id: number;
    user_name: string;
    repository: Record<string, unknown>;
    commits: { id: string; message: string; timestamp: string; url: string; author: unknown }[];
    total_commits_count: number;
  };
}

/** An application with projects to push to, and what the database then has of the pushes. Call at the top of the file. */
export function withPushes() {
  const holder = withApp();
  const trees = withWorkTrees();

  /** A project that nobody has pushed to, with a work tree beside it. */
  async function empty(columns: Record<string, unknown> = {}): Promise<Pushed> {
    const project = await holder.app.make.project({ columns });
    const url = cloneUrl(holder.app, project, { password: project.owner.token });
    const dir = repositoryDir(holder.app.services.repositoriesDir, project.id);
    return { project, url, dir, tree: await trees.fresh() };
  }

  /** As `empty`, with a pushed master that has a CI file. */
  async function filled(): Promise<Pushed & { sha: string }> {
    const pushed = await empty();
    const sha = await pushed.tree.commit({ '.gitlab-ci.yml': ciFile });
    await pushed.tree.git('push', '--quiet', pushed.url, 'master');
    return { ...pushed, sha };
  }

  function pipelines({ id }: { id: number }): Promise<PipelineRow[]> {
    return holder.app.rows<PipelineRow>(
      `select ref, tag, sha, before_sha, status, yaml_errors, user_id from pipelines where project_id = $1 order by id`,
      [id],
    );
  }

  function builds({ id }: { id: number }): Promise<{ name: string; status: string }[]> {
    return holder.app.rows('select name, status from builds where project_id = $1 order by id', [id]);
  }

  function events({ id }: { id: number }): Promise<EventRow[]> {
    return holder.app.rows<EventRow>(
      'select action, ref, author_id, data from events where project_id = $1 order by id',
      [id],
    );
  }

  async function outstanding({ id }: { id: number }): Promise<number> {
    return (await holder.app.rows('select 1 from pushes where project_id = $1', [id])).length;
  }

  return { holder, trees, empty, filled, pipelines, builds, events, outstanding };
}
