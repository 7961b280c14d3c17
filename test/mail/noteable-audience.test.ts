import test from 'ava';
import { names, withMailScene } from '../support/mail-scene.ts';
import type { MadeProject } from '../support/make.ts';

const { holder, member, subscribe, tell, wants } = withMailScene();

const kinds = {
  Issue: { make: 'issue', column: 'issue_id', labels: 'issue_labels' },
  MergeRequest: { make: 'mergeRequest', column: 'merge_request_id', labels: 'merge_request_labels' },
} as const;

const types = ['Issue', 'MergeRequest'] as const;
type Type = keyof typeof kinds;

/** A thing of somebody who wants no mail, done to by the owner of the project. */
async function quietThing(type: Type, project: MadeProject, columns: Record<string, unknown> = {}) {
  const author = await member(project, 'disabled');
  const { id } = await holder.app.make[kinds[type].make](project, { author, columns });
  return { type, id, by: project.owner.id };
}

async function addLabel(type: Type, id: number, labelId: number): Promise<void> {
  const { labels, column } = kinds[type];
  await holder.app.rows(`insert into ${labels} (${column}, label_id) values ($1, $2)`, [id, labelId]);
}

for (const type of types) {
  const { make, column } = kinds[type];

  test.serial(
    `${type}: who takes part is told of all that is done to it, but not what he does`,
    async (t) => {
      const { app } = holder;
      const project = await app.make.project();
      const [author, assignee, commenter, named] = [
        await member(project),
        await member(project, 'watch'),
        await member(project),
        await member(project),
      ];
      await member(project);
      const { id } = await app.make[make](project, { author, columns: { assignee_id: assignee.id } });
      await app.make.note(project, { type, id }, { author: commenter });
      const systemic = await member(project);
      await app.make.note(project, { type, id }, { author: systemic, columns: { system: true } });
      await app.make.row('mentions', { user_id: named.id, [column]: id });
      const everybody = names(author, assignee, commenter, named);
      const about = { type, id, by: project.owner.id };
      for (const kind of ['opened', 'closed', 'reopened'] as const) {
        t.deepEqual(await tell({ kind, ...about }), everybody, kind);
      }
      const others = names(assignee, commenter, named);
      t.deepEqual(await tell({ kind: 'closed', ...about, by: author.id }), others);
    },
  );

  test.serial(`${type}: taking part counts for nothing at the levels mention and disabled`, async (t) => {
    const { app } = holder;
    const project = await app.make.project();
    const about = await quietThing(type, project);
    const named = await member(project, 'mention');
    await app.make.note(project, about, { author: named });
    await app.make.row('mentions', { user_id: named.id, [column]: about.id });
    t.deepEqual(await tell({ kind: 'closed', ...about }), []);
  });

  test.serial(`${type}: whoever watches the project is told, and whoever asked to hear of it`, async (t) => {
    const { app } = holder;
    const project = await app.make.project({ visibility: 'public' });
    const about = await quietThing(type, project);
    const watcher = await member(project, 'watch');
    const stranger = await app.make.user();
    await wants(stranger, 'watch');
    const subscribers = [await member(project, 'mention'), await app.make.user()];
    for (const one of subscribers) await subscribe(one, { [column]: about.id });
    const silent = await member(project, 'disabled');
    await subscribe(silent, { [column]: about.id });
    const elsewhere = await app.make[make](project);
    await subscribe(await member(project), { [column]: elsewhere.id });
    t.deepEqual(await tell({ kind: 'closed', ...about }), names(watcher, ...subscribers));
  });

  test.serial(`${type}: who said that he will not hear of it does not, whatever he is`, async (t) => {
    const { app } = holder;
    const project = await app.make.project();
    const author = await member(project);
    const { id } = await app.make[make](project, { author });
    const watcher = await member(project, 'watch');
    for (const one of [author, watcher]) await subscribe(one, { [column]: id }, false);
    t.deepEqual(await tell({ kind: 'closed', type, id, by: project.owner.id }), []);
    const previous = { kind: 'reassigned', previousAssigneeId: watcher.id } as const;
    t.deepEqual(await tell({ ...previous, type, id, by: project.owner.id }), []);
  });

  test.serial(`${type}: a new one is told to subscribers of its labels too`, async (t) => {
    const { app } = holder;
    const project = await app.make.project();
    const about = await quietThing(type, project);
    const [here, other] = [await app.make.label(project), await app.make.label(project)];
    await addLabel(type, about.id, here);
    const listener = await member(project, 'mention');
    await subscribe(listener, { label_id: here });
    await subscribe(await member(project), { label_id: other });
    await subscribe(await member(project), { label_id: here }, false);
    await subscribe(await member(project, 'disabled'), { label_id: here });
    t.deepEqual(await tell({ kind: 'opened', ...about }), names(listener));
    t.deepEqual(await tell({ kind: 'closed', ...about }), [], 'but not what becomes of it');
  });

  test.serial(`${type}: added labels are told to their subscribers alone`, async (t) => {
    const { app } = holder;
    const project = await app.make.project();
    const author = await member(project);
    const { id } = await app.make[make](project, { author });
    await member(project, 'watch');
    const [added, before] = [await app.make.label(project), await app.make.label(project)];
    for (const label of [added, before]) await addLabel(type, id, label);
    const listener = await member(project);
    await subscribe(listener, { label_id: added });
    await subscribe(await member(project), { label_id: before });
    const by = project.owner.id;
    t.deepEqual(await tell({ kind: 'labelled', type, id, labelIds: [added], by }), names(listener));
    t.deepEqual(await tell({ kind: 'labelled', type, id, labelIds: [added], by: listener.id }), []);
  });

  test.serial(`${type}: who gets or loses it is told at the level mention too`, async (t) => {
    const { app } = holder;
    const project = await app.make.project();
    const [before, now, silent] = [
      await member(project, 'mention'),
      await member(project, 'mention'),
      await member(project, 'disabled'),
    ];
    const watcher = await member(project, 'watch');
    const about = await quietThing(type, project, { assignee_id: now.id });
    const told = (previousAssigneeId: number | null, by = about.by) =>
      tell({ kind: 'reassigned', ...about, previousAssigneeId, by });
    t.deepEqual(await told(before.id), names(before, now, watcher));
    t.deepEqual(await told(null), names(now, watcher));
    t.deepEqual(await told(silent.id, now.id), names(watcher));
    t.deepEqual(await tell({ kind: 'closed', ...about }), names(watcher), 'but not of what else is done');
  });

  test.serial(`${type}: a comment is told to those it names at the level mention too`, async (t) => {
    const { app } = holder;
    const project = await app.make.project();
    const about = await quietThing(type, project);
    const [here, before] = [await member(project, 'mention'), await member(project, 'mention')];
    const commenter = await member(project);
    const name = async (user: { id: number }, noteId: number) =>
      app.make.row('mentions', { user_id: user.id, [column]: about.id, note_id: noteId });
    await name(before, await app.make.note(project, about, { author: commenter }));
    const noteId = await app.make.note(project, about, { author: project.owner });
    await name(here, noteId);
    await name(await member(project, 'disabled'), noteId);
    await name(project.owner, noteId);
    t.deepEqual(await tell({ kind: 'note', noteId, by: project.owner.id }), names(here, commenter));
  });

  test.serial(`${type}: notes of the system and votes are told to nobody`, async (t) => {
    const { app } = holder;
    const project = await app.make.project();
    await member(project, 'watch');
    const about = await quietThing(type, project);
    for (const columns of [{ system: true }, { is_award: true, body: 'thumbsup' }]) {
      const noteId = await app.make.note(project, about, { author: project.owner, columns });
      t.deepEqual(await tell({ kind: 'note', noteId, by: project.owner.id }), []);
    }
  });

  test.serial(
    `${type}: what is removed by then is told to nobody, and so is what a doomed project has`,
    async (t) => {
      const { app } = holder;
      for (const [table, change] of [
        [make === 'issue' ? 'issues' : 'merge_requests', 'deleted_at = now()'],
        ['projects', 'pending_delete = true'],
      ]) {
        const project = await app.make.project();
        await member(project, 'watch');
        const about = await quietThing(type, project);
        const noteId = await app.make.note(project, about, { author: project.owner });
        await app.rows(`update ${table} set ${change} where id = $1`, [
          table === 'projects' ? project.id : about.id,
        ]);
        t.deepEqual(await tell({ kind: 'closed', ...about }), []);
        t.deepEqual(await tell({ kind: 'note', noteId, by: project.owner.id }), []);
      }
    },
  );
}

test.serial('merged is told as all else is, and so is an issue that moved', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const author = await member(project);
  const by = project.owner.id;
  const request = await app.make.mergeRequest(project, { author });
  t.deepEqual(await tell({ kind: 'merged', type: 'MergeRequest', id: request.id, by }), names(author));
  const [old, successor] = [await app.make.issue(project, { author }), await app.make.issue(project)];
  t.deepEqual(
    await tell({ kind: 'moved', type: 'Issue', id: old.id, newId: successor.id, by }),
    names(author),
  );
});
