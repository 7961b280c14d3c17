import test from 'ava';
import { looseCommit } from '../support/loose-commit.ts';
import type { MadeUser } from '../support/make.ts';
import { everythingOn, makeParent, type NoteBody, NotesOf, parents } from '../support/notes.ts';
import { withMail } from '../support/with-mail.ts';

const { holder, told } = withMail({ poolSize: 2 });

/** The newest note; some answers do not say which one they made. */
async function lastNote(): Promise<number | undefined> {
  return (await holder.app.rows<{ id: number }>('select max(id) as id from notes'))[0]?.id;
}

for (const kind of parents) {
  test.serial(`people are told of a comment on one of the ${kind}, not of another text`, async (t) => {
    const project = await holder.app.make.project({ columns: everythingOn });
    const notes = new NotesOf(holder.app, project, { kind, id: await makeParent(holder.app, project, kind) });
    const { body } = await notes.post('x');
    t.deepEqual(await told(), [{ kind: 'note', noteId: body.id, by: project.owner.id }]);
    await notes.put(body.id, 'y');
    await notes.remove(body.id);
    t.deepEqual(await told(), []);
  });
}

test.serial('people are told of a comment on a private snippet', async (t) => {
  const { app } = holder;
  const project = await app.make.project({ columns: everythingOn });
  const id = await app.make.snippet(project, { columns: { visibility_level: 0 } });
  const { body } = await new NotesOf(app, project, { kind: 'snippets', id }).post('x');
  t.deepEqual(await told(), [{ kind: 'note', noteId: body.id, by: project.owner.id }]);
});

test.serial('people are told of comments that older clients write, and of those on commits', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const by = await app.make.member(project, 'reporter');
  const { id } = await app.make.mergeRequest(project);
  const sha = await looseCommit(app, project);
  for (const place of [`merge_requests/${id}`, `merge_request/${id}`, `repository/commits/${sha}`]) {
    const json = { note: 'x' };
    const path = `/api/v3/projects/${project.id}/${place}/comments`;
    t.is((await app.call('POST', path, { as: by.token, json })).status, 201);
    t.deepEqual(await told(), [{ kind: 'note', noteId: await lastNote(), by: by.id }], place);
  }
});

test.serial('nobody is told of votes, nor of what the system notes', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const vote = async (kind: 'issues' | 'merge_requests', as: MadeUser): Promise<NoteBody> => {
    const id = await makeParent(app, project, kind);
    return (await new NotesOf(app, project, { kind, id }).post(':+1:', as)).body;
  };
  for (const kind of ['issues', 'merge_requests'] as const) t.true((await vote(kind, project.owner)).upvote);
  t.deepEqual(await told(), []);
  const notes = new NotesOf(app, project, { kind: 'issues', id: await makeParent(app, project, 'issues') });
  const { body } = await notes.post('#1');
  t.deepEqual(await told(), [{ kind: 'note', noteId: body.id, by: project.owner.id }]);
});
