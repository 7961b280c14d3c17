import { hash } from '@node-rs/argon2';
import type { CiJob } from '../../server/ci/config.ts';
import { createRepository } from '../../server/git/repository.ts';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { newRunnerToken, newToken } from '../../server/secrets.ts';
import type { Work } from '../../server/services.ts';
import { sql } from '../../server/sql.ts';
import type { BuildStatus } from '../../shared/build-status.ts';

export interface MadeUser {
  id: number;
  username: string;
  token: string;
  /** Id of the personal namespace. */
  namespaceId: number;
}

export interface MadeProject {
  id: number;
  path: string;
  fullPath: string;
  runnersToken: string;
  owner: MadeUser;
}

/** An issue or a merge request. */
export interface MadeThing {
  id: number;
  iid: number;
  title: string;
}

interface GivenThing {
  author?: { id: number };
  /** As they are called in the table. */
  columns?: Record<string, unknown>;
}

export interface MadeRunner {
  id: number;
  token: string;
}

export interface MadeBuild {
  id: number;
  pipelineId: number;
  jobId: number;
  /** Its token towards the runner API. */
  token: string;
}

/** Of every made user. Hashed once, at the least cost. */
export const password = 'password';
const passwordHash = hash(password, { memoryCost: 8, timeCost: 1, parallelism: 1 });

export const levels = { guest: 10, reporter: 20, developer: 30, master: 40, owner: 50 } as const;
const visibilities = { private: 0, internal: 10, public: 20 } as const;

/** Writes rows with sensible parents, past the API. Names carry a counter. */
export class Make {
  readonly #work: Work;
  #count = 0;

  constructor(work: Work) {
    this.#work = work;
  }

  async user(
    given: {
      username?: string;
      isAdmin?: boolean;
      external?: boolean;
      state?: string;
      projectsLimit?: number;
    } = {},
  ): Promise<MadeUser> {
    const username = given.username ?? `user${this.#next()}`;
    const token = newToken();
    const stored = this.#work.secrets.store(token);
    const user = await this.row('users', {
      username,
      name: `Name of ${username}`,
      email: `${username}@example.com`,
      password_hash: await passwordHash,
      is_admin: given.isAdmin ?? false,
      external: given.external ?? false,
      state: given.state ?? 'active',
      projects_limit: given.projectsLimit ?? 10,
      private_token_digest: stored.digest,
      private_token_sealed: stored.sealed,
    });
    const namespace = await this.row('namespaces', {
      kind: 'user',
      path: username,
      name: username,
      owner_id: user,
    });
    return { id: user, username, token, namespaceId: namespace };
  }

  /** @returns id of the group's namespace. */
  async group(given: { path?: string; visibility?: keyof typeof visibilities } = {}): Promise<number> {
    const path = given.path ?? `group${this.#next()}`;
    const visibility = visibilities[given.visibility ?? 'public'];
    return this.row('namespaces', { kind: 'group', path, name: path, visibility_level: visibility });
  }

  async groupMember(groupId: number, user: MadeUser, level: keyof typeof levels): Promise<void> {
    await this.row('group_members', { group_id: groupId, user_id: user.id, access_level: levels[level] });
  }

  async share(project: { id: number }, groupId: number, level: keyof typeof levels): Promise<void> {
    await this.row('project_shares', {
      project_id: project.id,
      group_id: groupId,
      group_access: levels[level],
    });
  }

  /** A project with an empty repository. Other columns of the table may be given as they are called there. */
  async project(
    given: {
      owner?: MadeUser;
      namespaceId?: number;
      visibility?: keyof typeof visibilities;
      columns?: Record<string, unknown>;
    } = {},
  ): Promise<MadeProject> {
    const owner = given.owner ?? (await this.user());
    const path = `project${this.#next()}`;
    const runnersToken = newToken();
    const stored = this.#work.secrets.store(runnersToken);
    const namespaceId = given.namespaceId ?? owner.namespaceId;
    const id = await this.row('projects', {
      namespace_id: namespaceId,
      creator_id: owner.id,
      name: path,
      path,
      visibility_level: visibilities[given.visibility ?? 'private'],
      runners_token_digest: stored.digest,
      runners_token_sealed: stored.sealed,
      ...given.columns,
    });
    await createRepository(repositoryDir(this.#work.repositoriesDir, id));
    const [namespace] = await sql<{ path: string }>(
      this.#work.em,
      'select path from namespaces where id = $1',
      [namespaceId],
    );
    return { id, path, fullPath: `${namespace?.path}/${path}`, runnersToken, owner };
  }

  /** A new user with this level on the project. */
  async member(project: { id: number }, level: keyof typeof levels): Promise<MadeUser> {
    const user = await this.user();
    await this.row('project_members', {
      project_id: project.id,
      user_id: user.id,
      access_level: levels[level],
    });
    return user;
  }

  /** Of the project's owner unless told. */
  issue(project: MadeProject, given: GivenThing = {}): Promise<MadeThing> {
    return this.#thing(project, { table: 'issues', counter: 'last_issue_iid', columns: {} }, given);
  }

  /** Of a branch that need not be there. */
  mergeRequest(project: MadeProject, given: GivenThing = {}): Promise<MadeThing> {
    const columns = {
      source_project_id: project.id,
      source_branch: `branch${this.#next()}`,
      target_branch: 'master',
    };
    const kind = { table: 'merge_requests', counter: 'last_merge_request_iid', columns };
    return this.#thing(project, kind, given);
  }

  async #thing(
    project: MadeProject,
    { table, counter, columns }: { table: string; counter: string; columns: Record<string, unknown> },
    given: GivenThing,
  ): Promise<MadeThing> {
    const title = `Title ${this.#next()}`;
    const [row] = await sql<{ iid: number }>(
      this.#work.em,
      `update projects set ${counter} = ${counter} + 1 where id = $1 returning ${counter} as iid`,
      [project.id],
    );
    const iid = row?.iid ?? 0;
    const author_id = (given.author ?? project.owner).id;
    const all = { project_id: project.id, iid, author_id, title, ...columns, ...given.columns };
    return { id: await this.row(table, all), iid, title: String(all.title) };
  }

  /** @returns its id. */
  snippet(project: MadeProject, given: GivenThing = {}): Promise<number> {
    return this.row('snippets', {
      project_id: project.id,
      author_id: (given.author ?? project.owner).id,
      title: `Snippet ${this.#next()}`,
      file_name: 'a.txt',
      content: 'text',
      ...given.columns,
    });
  }

  /** What somebody says of a thing with this id, or of a commit. @returns its id. */
  note(
    project: { id: number },
    about: { type: 'Issue' | 'MergeRequest' | 'Snippet'; id: number } | { type: 'Commit'; sha: string },
    { author, columns }: GivenThing & { author: { id: number } },
  ): Promise<number> {
    return this.row('notes', {
      project_id: project.id,
      author_id: author.id,
      noteable_type: about.type,
      noteable_id: 'id' in about ? about.id : null,
      commit_sha: 'sha' in about ? about.sha : null,
      body: `Comment ${this.#next()}`,
      ...columns,
    });
  }

  /** @returns its id. */
  label(project: { id: number }, title = `label${this.#next()}`): Promise<number> {
    return this.row('labels', { project_id: project.id, title, color: '#428BCA' });
  }

  /** A shared runner, or with `projects` a specific one of those. */
  async runner(
    given: { projects?: { id: number }[]; tags?: string[]; runUntagged?: boolean; active?: boolean } = {},
  ): Promise<MadeRunner> {
    const token = newRunnerToken();
    const stored = this.#work.secrets.store(token);
    const id = await this.row('runners', {
      token_digest: stored.digest,
      token_sealed: stored.sealed,
      description: `runner${this.#next()}`,
      is_shared: given.projects === undefined,
      active: given.active ?? true,
      run_untagged: given.runUntagged ?? true,
      tag_list: given.tags ?? [],
    });
    for (const project of given.projects ?? []) {
      await sql(this.#work.em, 'insert into runner_projects (runner_id, project_id) values ($1, $2)', [
        id,
        project.id,
      ]);
    }
    return { id, token };
  }

  /** A build with a pipeline of its own, in the queue when it is pending, with an empty trace. */
  async build(
    project: { id: number },
    given: {
      status?: BuildStatus;
      runner?: MadeRunner;
      job?: Partial<CiJob>;
      sha?: string;
      ref?: string;
      tag?: boolean;
      pipelineId?: number;
      columns?: Record<string, unknown>;
    } = {},
  ): Promise<MadeBuild> {
    const status = given.status ?? 'pending';
    const job = { ...plainJob(given.job?.name ?? `job${this.#next()}`), ...given.job };
    const pipelineId = given.pipelineId ?? (await this.#pipeline(project, given));
    const jobId = await this.row('pipeline_jobs', {
      pipeline_id: pipelineId,
      position: this.#next(),
      name: job.name,
      tags: [...job.tags].sort(),
      definition: JSON.stringify(job),
    });
    const started = status === 'pending' ? null : new Date();
    const id = await this.row('builds', {
      project_id: project.id,
      pipeline_id: pipelineId,
      job_id: jobId,
      name: job.name,
      stage: job.stage,
      stage_idx: job.stageIndex,
      status,
      allow_failure: job.allowFailure,
      runner_id: given.runner?.id ?? null,
      started_at: started,
      finished_at: status === 'pending' || status === 'running' ? null : new Date(),
      ...given.columns,
    });
    await sql(this.#work.em, 'insert into traces (build_id) values ($1)', [id]);
    await this.#knowTags(id);
    if (status === 'pending') await this.#queue(id);
    return { id, pipelineId, jobId, token: this.#work.secrets.buildToken(id) };
  }

  async #pipeline(
    project: { id: number },
    given: { sha?: string; ref?: string; tag?: boolean },
  ): Promise<number> {
    return this.row('pipelines', {
      project_id: project.id,
      ref: given.ref ?? 'master',
      tag: given.tag ?? false,
      sha: given.sha ?? 'a'.repeat(40),
      before_sha: '0'.repeat(40),
      commit: JSON.stringify({
        message: 'A commit\n\nwith a body\n',
        authorName: 'Ada',
        authorEmail: 'ada@example.com',
        committedAt: '2016-01-07T12:44:33+01:00',
      }),
    });
  }

  /** A build that runs was once in the queue. */
  async #knowTags(buildId: number): Promise<void> {
    await sql(
      this.#work.em,
      `insert into tag_sets (tags) select j.tags from builds b join pipeline_jobs j on j.id = b.job_id
       where b.id = $1 on conflict do nothing`,
      [buildId],
    );
  }

  async #queue(buildId: number): Promise<void> {
    await sql(
      this.#work.em,
      `insert into pending_builds (build_id, project_id, tag_set_id, shared, created_at)
       select b.id, b.project_id, t.id, p.builds_enabled and p.shared_runners_enabled, b.created_at
       from builds b join pipeline_jobs j on j.id = b.job_id join tag_sets t on t.tags = j.tags
         join projects p on p.id = b.project_id where b.id = $1`,
      [buildId],
    );
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }

  /** @returns its id. */
  async row(table: string, columns: Record<string, unknown>): Promise<number> {
    const names = Object.keys(columns);
    const places = names.map((_, index) => `$${index + 1}`);
    const text = `insert into ${table} (${names.join(', ')}) values (${places.join(', ')}) returning id`;
    const [row] = await sql<{ id: number }>(this.#work.em, text, Object.values(columns));
    if (!row) throw new Error(`nothing was inserted into ${table}`);
    return row.id;
  }
}

function plainJob(name: string): CiJob {
  return {
    name,
    stage: 'test',
    stageIndex: 1,
    script: ['true'],
    afterScript: null,
    image: null,
    services: null,
    variables: {},
    tags: [],
    only: null,
    except: null,
    allowFailure: false,
    when: 'on_success',
    dependencies: null,
    artifacts: null,
    cache: null,
    environment: null,
    coverage: null,
  };
}
