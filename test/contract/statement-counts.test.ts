import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git } from '../git/real-git.ts';
import { withApp } from '../support/app.ts';
import { countStatements } from '../support/count-statements.ts';
import { looseCommit } from '../support/loose-commit.ts';
import type { MadeProject, MadeUser } from '../support/make.ts';
import { everyEndpoint } from './every-endpoint.ts';

const holder = withApp();

interface World {
  viewer: MadeUser;
  project: MadeProject;
  groupId: number;
  milestoneId: number;
  /** Of the merge request that closes all issues of the project. */
  mergeRequestId: number;
}

/** How to make one more row of a list. Those of which administrators see all come first, while there are few. */
const rows: Record<string, (world: World) => Promise<unknown>> = {
  'GET /projects/all': addProject,
  'GET /users': () => holder.app.make.user(),
  'GET /groups': () => holder.app.make.group(),
  'GET /runners/all': () => holder.app.make.runner(),
  'GET /projects': addProject,
  'GET /projects/owned': addProject,
  'GET /projects/search/:query': addProject,
  'GET /groups/:id/projects': addProject,
  async 'GET /projects/starred'(world) {
    const id = await addProject(world);
    await holder.app.rows('insert into stars (project_id, user_id) values ($1, $2)', [id, world.viewer.id]);
  },
  'GET /projects/:id/events': ({ project, viewer }) =>
    holder.app.rows(
      `with note as (
         insert into notes (project_id, author_id, noteable_type, noteable_id, body) values ($1, $2, 'Issue', 1, 'x')
         returning id
       )
       insert into events (project_id, author_id, action, note_id) select $1, $2, 'commented on', id from note`,
      [project.id, viewer.id],
    ),
  'GET /projects/:id/users': ({ project }) => holder.app.make.member(project, 'guest'),
  'GET /projects/:id/members': ({ project }) => holder.app.make.member(project, 'guest'),
  'GET /projects/:id/builds': ({ project }) => holder.app.make.build(project, { status: 'success' }),
  'GET /projects/:id/pipelines': ({ project }) => holder.app.make.build(project, { status: 'success' }),
  'GET /projects/:id/merge_requests': addMergeRequest,
  'GET /projects/:id/merge_requests/:merge_request_id/closes_issues': addIssue,
  'GET /projects/:id/milestones': ({ project }) =>
    holder.app.rows(
      `insert into milestones (project_id, iid, title)
       select $1, count(*) + 1, count(*) from milestones where project_id = $1`,
      [project.id],
    ),
  'GET /projects/:id/milestones/:milestone_id/issues': async (world) => {
    await addIssue(world);
    await holder.app.rows('update issues set milestone_id = $2 where project_id = $1', [
      world.project.id,
      world.milestoneId,
    ]);
  },
  'GET /projects/:id/labels': addLabel,
  'GET /projects/:id/snippets': (world) => addSnippet(world, world.project.id),
  'GET /snippets': (world) => addSnippet(world, null),
  'GET /projects/:id/repository/branches': ({ project }) => addRef(project, 'heads'),
  'GET /projects/:id/repository/tags': ({ project }) => addRef(project, 'tags'),
  'GET /issues': addIssue,
  'GET /projects/:id/issues': addIssue,
  'GET /projects/:id/issues/:issue_id/notes': addNote,
  async 'GET /groups/:id/members'({ groupId }) {
    await holder.app.make.groupMember(groupId, await holder.app.make.user(), 'guest');
  },
};

/** Without a repository, which no list looks at. */
async function addProject({ groupId }: World): Promise<number> {
  const [row] = await holder.app.rows<{ id: number }>(
    `insert into projects (namespace_id, name, path, visibility_level, runners_token_digest, runners_token_sealed)
     select $1::int, name, name, 20, decode(md5(name), 'hex'), ''
     from (select 'project-of-' || $1::int || '-' || nextval('events_id_seq') as name) n returning id`,
    [groupId],
  );
  return row?.id ?? 0;
}

/** With all that an answer shows of one. */
async function addMergeRequest({ project, viewer }: World): Promise<void> {
  const { make, rows } = holder.app;
  const { id, iid, title } = await make.mergeRequest(project, {
    author: viewer,
    columns: { assignee_id: viewer.id },
  });
  const milestone = await make.row('milestones', { project_id: project.id, iid, title });
  await rows('update merge_requests set milestone_id = $2 where id = $1', [id, milestone]);
  await rows('insert into merge_request_labels (merge_request_id, label_id) values ($1, $2)', [
    id,
    await make.label(project),
  ]);
}

/** One that an issue has. */
async function addLabel({ project, viewer }: World): Promise<void> {
  await holder.app.rows(
    `with label as (
       insert into labels (project_id, title, color) select $1, count(*), '#ff0000' from labels where project_id = $1
       returning id
     ), issue as (
       insert into issues (project_id, iid, title, author_id)
       select $1, count(*) + 1, 'x', $2 from issues where project_id = $1 returning id
     )
     insert into issue_labels (issue_id, label_id) select issue.id, label.id from issue, label`,
    [project.id, viewer.id],
  );
}

async function addSnippet({ viewer }: World, projectId: number | null): Promise<void> {
  await holder.app.rows(
    `insert into snippets (project_id, author_id, title, file_name, content) values ($1, $2, 'x', 'x', 'x')`,
    [projectId, viewer.id],
  );
}

/** With all that an answer shows of one. */
async function addIssue({ project, viewer }: World): Promise<void> {
  const { make, rows } = holder.app;
  const issue = await make.issue(project, { author: viewer, columns: { assignee_id: viewer.id } });
  const { iid, title } = issue;
  const milestone = await make.row('milestones', { project_id: project.id, iid, title });
  await rows('update issues set milestone_id = $2 where id = $1', [issue.id, milestone]);
  const give = 'insert into issue_labels (issue_id, label_id) values ($1, $2)';
  await rows(give, [issue.id, await make.label(project)]);
}

async function issueOf({ project }: World): Promise<string> {
  const text = 'select id from issues where project_id = $1';
  const [issue] = await holder.app.rows<{ id: number }>(text, [project.id]);
  return String(issue?.id);
}

/** Of the project's only issue, some of which say where that is named. */
async function addNote({ project, viewer }: World): Promise<void> {
  const { make, rows } = holder.app;
  const [issue] = await rows<{ id: number }>('select id from issues where project_id = $1', [project.id]);
  const { id } = issue ?? (await make.issue(project));
  const named = { reference_type: 'MergeRequest', reference_project_id: project.id };
  const { id: reference_id } = await make.mergeRequest(project);
  await make.note(
    project,
    { type: 'Issue', id },
    { author: viewer, columns: { ...named, reference_id, system: true } },
  );
}

async function addRef(project: MadeProject, folder: 'heads' | 'tags'): Promise<void> {
  const dir = repositoryDir(holder.app.services.repositoriesDir, project.id);
  const sha = await looseCommit(holder.app, project);
  await git(dir, 'update-ref', `refs/${folder}/of-${sha}`, sha);
}

async function makeWorld(): Promise<World> {
  const { make } = holder.app;
  const viewer = await make.user({ isAdmin: true });
  const groupId = await make.group();
  await make.groupMember(groupId, viewer, 'owner');
  const columns = { snippets_enabled: true, default_branch: 'master' };
  const project = await make.project({ namespaceId: groupId, columns });
  // No other has this number.
  const milestoneId = await make.row('milestones', { project_id: project.id, iid: 1_000_000, title: 'A' });
  const names = Array.from({ length: 100 }, (_, index) => `#${index + 1}`);
  const mergeRequest = await make.mergeRequest(project, {
    author: viewer,
    columns: { description: `Closes ${names.join(', ')}`, target_branch: 'master' },
  });
  return { viewer, groupId, project, milestoneId, mergeRequestId: mergeRequest.id };
}

for (const [name, addRow] of Object.entries(rows)) {
  test.serial(`${name} takes as many statements for a hundred rows as for one`, async (t) => {
    const world = await makeWorld();
    await addRow(world);
    const served = everyEndpoint().find((one) => one.name === name);
    const path = `${served?.prefix}${served?.endpoint.path}`
      .replace('/projects/:id', `/projects/${world.project.id}`)
      .replace('/groups/:id', `/groups/${world.groupId}`)
      .replace(':milestone_id', String(world.milestoneId))
      .replace(':issue_id', await issueOf(world))
      .replace(':merge_request_id', String(world.mergeRequestId))
      .replace(':query', `of-${world.groupId}`);
    const read = async () => {
      const shown = { length: 0 };
      const statements = await countStatements(async () => {
        const answer = await holder.app.call<unknown[]>('GET', path, {
          as: world.viewer.token,
          query: { per_page: '100' },
        });
        t.is(answer.status, 200);
        shown.length = answer.body.length;
      });
      return { statements, shown: shown.length };
    };
    const few = await read();
    for (let made = 1; made < 100; made += 1) await addRow(world);
    const many = await read();
    t.is(many.shown, 100);
    t.true(few.shown > 0 && few.shown < 90, `${few.shown} rows at first`);
    t.is(many.statements, few.statements);
    t.true(few.statements > 0 && few.statements <= 5, `${few.statements} statements`);
  });
}
