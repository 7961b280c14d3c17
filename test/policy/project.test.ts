import test from 'ava';
import { AppError } from '../../server/errors.ts';
import { type ProjectAbility, projectAbilities } from '../../server/policy/abilities.ts';
import { authorize, can, levelOf, type ProjectFacts } from '../../server/policy/project.ts';

interface Row {
  /**
   * Who may, in the order: signed-in stranger on a project that he can see, guest, reporter, developer, master,
   * owner. `b`: only where builds are public.
   */
  who: string;
  /** Status for those who may see the project but not do this. */
  denied: number;
  /** Features of which one must be on. */
  needs?: (keyof ProjectFacts)[];
  /** Whether an archived project still allows it. */
  archived?: 'no';
}

const issues: Row['needs'] = ['issues_enabled'];
const requests: Row['needs'] = ['merge_requests_enabled'];
const either: Row['needs'] = ['issues_enabled', 'merge_requests_enabled'];
const snippets: Row['needs'] = ['snippets_enabled'];
const builds: Row['needs'] = ['builds_enabled'];

/** The approved table. Changing a right means changing its row here too. */
const approved: Record<ProjectAbility, Row> = {
  //                        s g r d m o
  read_project: /*       */ { who: 'y y y y y y', denied: 404 },
  star_project: /*       */ { who: 'y y y y y y', denied: 404 },
  create_note: /*        */ { who: 'y y y y y y', denied: 404 },
  upload_file: /*        */ { who: 'y y y y y y', denied: 404 },
  read_issue: /*         */ { who: 'y y y y y y', denied: 403, needs: issues },
  create_issue: /*       */ { who: 'y y y y y y', denied: 403, needs: issues },
  read_merge_request: /* */ { who: 'y y y y y y', denied: 403, needs: requests },
  read_snippet: /*       */ { who: 'y y y y y y', denied: 403, needs: snippets },
  read_label: /*         */ { who: 'y y y y y y', denied: 403, needs: either },
  read_milestone: /*     */ { who: 'y y y y y y', denied: 403, needs: either },
  read_code: /*          */ { who: 'y - y y y y', denied: 403 },
  fork_project: /*       */ { who: 'y - y y y y', denied: 403 },
  read_commit_status: /* */ { who: 'y - y y y y', denied: 403 },
  read_build: /*         */ { who: 'b - y y y y', denied: 403, needs: builds },
  admin_issue: /*        */ { who: '- - y y y y', denied: 403, needs: issues },
  move_issue: /*         */ { who: '- - y y y y', denied: 400, needs: issues },
  admin_label: /*        */ { who: '- - y y y y', denied: 403, needs: either },
  create_snippet: /*     */ { who: '- - y y y y', denied: 403, needs: snippets },
  create_merge_request: /**/ { who: '- - - y y y', denied: 403, needs: requests, archived: 'no' },
  admin_merge_request: /**/ { who: '- - - y y y', denied: 403, needs: requests, archived: 'no' },
  accept_merge_request: /**/ { who: '- - - y y y', denied: 401, needs: requests, archived: 'no' },
  push_code: /*          */ { who: '- - - y y y', denied: 403, archived: 'no' },
  create_commit_status: /**/ { who: '- - - y y y', denied: 403 },
  update_build: /*       */ { who: '- - - y y y', denied: 403, needs: builds },
  push_protected_code: /**/ { who: '- - - - y y', denied: 403, archived: 'no' },
  change_tag: /*         */ { who: '- - - - y y', denied: 403, archived: 'no' },
  admin_milestone: /*    */ { who: '- - - - y y', denied: 403, needs: either },
  admin_note: /*         */ { who: '- - - - y y', denied: 403 },
  admin_snippet: /*      */ { who: '- - - - y y', denied: 403, needs: snippets },
  admin_project: /*      */ { who: '- - - - y y', denied: 403 },
  admin_ci: /*           */ { who: '- - - - y y', denied: 403 },
  delete_issue: /*       */ { who: '- - - - - y', denied: 404, needs: issues },
  delete_merge_request: /**/ { who: '- - - - - y', denied: 404, needs: requests },
  own_project: /*        */ { who: '- - - - - y', denied: 403 },
};

interface Actor {
  viewer: { is_admin: boolean; external: boolean } | null;
  /** 0: no member. */
  level: number;
}

const plain = { is_admin: false, external: false };
const outside = { is_admin: false, external: true };
const actors: Record<string, Actor> = {
  nobody: { viewer: null, level: 0 },
  stranger: { viewer: plain, level: 0 },
  external: { viewer: outside, level: 0 },
  guest: { viewer: plain, level: 10 },
  'external guest': { viewer: outside, level: 10 },
  reporter: { viewer: plain, level: 20 },
  developer: { viewer: plain, level: 30 },
  master: { viewer: plain, level: 40 },
  owner: { viewer: plain, level: 50 },
  admin: { viewer: { is_admin: true, external: false }, level: 0 },
};

const allOn = {
  issues_enabled: true,
  merge_requests_enabled: true,
  snippets_enabled: true,
  builds_enabled: true,
};
const switches: Partial<ProjectFacts>[] = [
  {},
  { issues_enabled: false },
  { merge_requests_enabled: false },
  { issues_enabled: false, merge_requests_enabled: false },
  { snippets_enabled: false },
  { builds_enabled: false },
];

function* situations(): Generator<ProjectFacts> {
  for (const visibility_level of [0, 10, 20]) {
    for (const archived of [false, true]) {
      for (const public_builds of [false, true]) {
        for (const off of switches) {
          yield { ...allOn, visibility_level, archived, public_builds, viewer_level: 0, ...off };
        }
      }
    }
  }
}

function sees({ viewer }: Actor, project: ProjectFacts): boolean {
  if (project.visibility_level === 20) return true;
  return project.visibility_level === 10 && viewer !== null && !viewer.external;
}

/** What the table says. */
function expected(row: Row, actor: Actor, project: ProjectFacts): boolean {
  if (row.needs && !row.needs.some((feature) => project[feature])) return false;
  if (row.archived === 'no' && project.archived) return false;
  if (actor.viewer?.is_admin) return true;
  const [stranger, ...levels] = row.who.split(' ');
  const asMember = actor.level > 0 && levels[actor.level / 10 - 1] === 'y';
  const asStranger = stranger === 'y' || (stranger === 'b' && project.public_builds);
  return asMember || (sees(actor, project) && asStranger);
}

function statusOf(run: () => void): number {
  try {
    run();
    return 200;
  } catch (error) {
    if (error instanceof AppError) return error.status;
    throw error;
  }
}

test('the table has one row per ability', (t) => {
  t.deepEqual(Object.keys(approved).sort(), Object.keys(projectAbilities).sort());
});

for (const [ability, row] of Object.entries(approved) as [ProjectAbility, Row][]) {
  test(`${ability}: each actor, visibility, switch and archived state`, (t) => {
    const differences: string[] = [];
    for (const situation of situations()) {
      for (const [name, actor] of Object.entries(actors)) {
        const project = { ...situation, viewer_level: actor.level };
        const allowed = expected(row, actor, project);
        const isHidden = !actor.viewer?.is_admin && actor.level === 0 && !sees(actor, project);
        const status = allowed ? 200 : isHidden ? 404 : row.denied;
        const isRight =
          can(actor.viewer, project, ability) === allowed &&
          statusOf(() => authorize(actor.viewer, project, ability)) === status;
        if (!isRight) differences.push(`${name}: ${allowed} on ${JSON.stringify(project)}`);
      }
    }
    t.deepEqual(differences, []);
  });
}

test('what is hidden is called a project that is not there', (t) => {
  const project = { ...allOn, visibility_level: 0, archived: false, public_builds: true, viewer_level: 0 };
  const error = t.throws(() => authorize(plain, project, 'push_code'), { instanceOf: AppError });
  t.is(error?.body, '404 Project Not Found');
});

test('the texts of refusals', (t) => {
  const project = { ...allOn, visibility_level: 20, archived: false, public_builds: true, viewer_level: 10 };
  const texts = {
    push_code: '403 Forbidden',
    accept_merge_request: '401 Unauthorized',
    move_issue: '400 Bad request',
  };
  for (const [ability, text] of Object.entries(texts)) {
    const error = t.throws(() => authorize(plain, project, ability as ProjectAbility), {
      instanceOf: AppError,
    });
    t.is(error?.body, text);
  }
});

test('administrators count as owners', (t) => {
  const project = { ...allOn, visibility_level: 0, archived: false, public_builds: true, viewer_level: 20 };
  t.is(levelOf({ is_admin: true, external: false }, project), 50);
  t.is(levelOf(plain, project), 20);
});
