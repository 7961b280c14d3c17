import test from 'ava';
import { tellPeople } from '../../server/mail/happening.ts';
import { notificationLevels } from '../../shared/notification-level.ts';
import { looseCommit } from '../support/loose-commit.ts';
import { names, withMailScene } from '../support/mail-scene.ts';
import type { MadeProject, MadeUser } from '../support/make.ts';

const { holder, post, member, subscribe, tell, wants } = withMailScene();

/** That the owner closed an issue of his. */
async function closing(project: MadeProject) {
  const { id } = await holder.app.make.issue(project);
  return { kind: 'closed', type: 'Issue', id, by: project.owner.id } as const;
}

async function takePart(project: MadeProject, issueId: number, ...users: MadeUser[]): Promise<void> {
  for (const author of users) {
    await holder.app.make.note(project, { type: 'Issue', id: issueId }, { author });
    await subscribe(author, { issue_id: issueId });
  }
}

test.serial(
  'a level of the project counts before that of the group, and both before that of all',
  async (t) => {
    const { app } = holder;
    const groupId = await app.make.group();
    const project = await app.make.project({ namespaceId: groupId, visibility: 'public' });
    const { watch, disabled, global } = notificationLevels;
    const told: MadeUser[] = [];
    const cases = [
      { all: watch, group: null, project: null, hears: true },
      { all: disabled, group: watch, project: null, hears: true },
      { all: watch, group: disabled, project: null, hears: false },
      { all: disabled, group: disabled, project: watch, hears: true },
      { all: watch, group: watch, project: disabled, hears: false },
      { all: watch, group: global, project: global, hears: true },
    ];
    for (const levels of cases) {
      for (const isMember of [true, false]) {
        const user = await app.make.user();
        await app.rows('update users set notification_level = $2 where id = $1', [user.id, levels.all]);
        if (isMember) {
          const level = levels.group ?? global;
          const columns = {
            group_id: groupId,
            user_id: user.id,
            access_level: 10,
            notification_level: level,
          };
          await app.make.row('group_members', columns);
        } else if (levels.group !== null) {
          await app.make.row('notification_settings', {
            user_id: user.id,
            group_id: groupId,
            level: levels.group,
          });
        }
        if (levels.project !== null) {
          await app.make.row('notification_settings', {
            user_id: user.id,
            project_id: project.id,
            level: levels.project,
          });
        }
        // Whoever is no member, and chose nothing here, watches nothing.
        const hasChosen = levels.group !== null || levels.project !== null;
        if (levels.hears && (isMember || hasChosen)) told.push(user);
      }
    }
    t.deepEqual(await tell(await closing(project)), names(...told));
  },
);

test.serial('who cannot read the project or its issues is told of none, though he took part', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const happening = await closing(project);
  const [stranger, admin, blocked] = [
    await app.make.user(),
    await app.make.user({ isAdmin: true }),
    await member(project),
  ];
  const [external, former, shared] = [
    await app.make.user({ external: true }),
    await app.make.user(),
    await app.make.user(),
  ];
  const groupId = await app.make.group();
  await app.make.groupMember(groupId, shared, 'guest');
  await app.make.share(project, groupId, 'developer');
  await takePart(project, happening.id, stranger, admin, blocked, external, former, shared);
  await app.rows(`update users set state = 'blocked' where id = $1`, [blocked.id]);
  t.deepEqual(await tell(happening), names(admin, shared));
  await app.rows('update projects set visibility_level = 10 where id = $1', [project.id]);
  t.deepEqual(await tell(happening), names(admin, shared, stranger, former));
  await app.rows('update projects set visibility_level = 20 where id = $1', [project.id]);
  t.deepEqual(await tell(happening), names(admin, shared, stranger, former, external));
  await app.rows('update projects set issues_enabled = false where id = $1', [project.id]);
  t.deepEqual(await tell(happening), []);
});

test.serial('what somebody may not read any more as it is sent stays unsent', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const [removed, unsubscribed, stays] = [
    await member(project),
    await member(project),
    await member(project),
  ];
  const happening = await closing(project);
  await takePart(project, happening.id, removed, unsubscribed, stays);
  post.server.replies.push(...[1, 2, 3].map(() => ({ code: 451, text: 'later' })));
  t.deepEqual(await tell(happening), []);
  await app.rows('delete from project_members where user_id = $1', [removed.id]);
  await app.rows('update subscriptions set subscribed = false where user_id = $1', [unsubscribed.id]);
  await app.runAllTasks();
  t.deepEqual(
    post.server.received.map(({ envelope }) => envelope.to),
    [[`${stays.username}@example.com`]],
  );
});

test.serial('a comment on a commit is told to who made it, and to others who may read code', async (t) => {
  const { app } = holder;
  const project = await app.make.project({ visibility: 'private' });
  const sha = await looseCommit(app, project);
  const [author, committer] = [await member(project), await member(project)];
  await app.rows('update users set email = $2 where id = $1', [author.id, 'Ada@example.org']);
  await app.rows(`insert into emails (user_id, email) values ($1, 'grace@Example.org')`, [committer.id]);
  const [commenter, named, watcher] = [
    await member(project),
    await member(project, 'mention'),
    await member(project, 'watch'),
  ];
  const guest = await app.make.member(project, 'guest');
  await wants(guest, 'watch');
  const about = { type: 'Commit', sha } as const;
  await app.make.note(project, about, { author: commenter });
  const noteId = await app.make.note(project, about, { author: project.owner });
  await app.make.row('mentions', { user_id: named.id, note_id: noteId });
  const told = await tell({ kind: 'note', noteId, by: project.owner.id });
  t.deepEqual(told, [...names(committer, commenter, named, watcher), 'Ada'].sort());
});

test.serial('a comment on a snippet is told to those who may see that', async (t) => {
  const { app } = holder;
  const project = await app.make.project({ visibility: 'public', columns: { snippets_enabled: true } });
  const author = await member(project);
  const id = await app.make.snippet(project, { author, columns: { visibility_level: 0 } });
  const [commenter, named, watcher] = [
    await app.make.user({ external: true }),
    await member(project, 'mention'),
    await member(project, 'watch'),
  ];
  const about = { type: 'Snippet', id } as const;
  await app.make.note(project, about, { author: commenter });
  const noteId = await app.make.note(project, about, { author: project.owner });
  await app.make.row('mentions', { user_id: named.id, note_id: noteId });
  const happening = { kind: 'note', noteId, by: project.owner.id } as const;
  t.deepEqual(await tell(happening), names(author));
  await app.rows('update snippets set visibility_level = 10 where id = $1', [id]);
  t.deepEqual(await tell(happening), names(author, named, watcher));
  await app.rows('update snippets set visibility_level = 20 where id = $1', [id]);
  t.deepEqual(await tell(happening), names(author, named, watcher, commenter));
  await app.rows('delete from snippets where id = $1', [id]);
  t.deepEqual(await tell(happening), []);
});

test.serial('without a mail server nobody is looked for', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  await member(project, 'watch');
  await tellPeople({ ...app.work, mail: null }, await closing(project));
  t.deepEqual(await app.rows(`select 1 from graphile_worker.jobs where task_identifier = 'notify'`), []);
});
