import { type Feature, type ProjectAbility, ruleOf } from '../policy/abilities.ts';
import { viewerLevel } from './project-row.ts';

const switches: Record<Feature, string> = {
  issues: 'p.issues_enabled',
  merge_requests: 'p.merge_requests_enabled',
  snippets: 'p.snippets_enabled',
  builds: 'p.builds_enabled',
  issues_or_merge_requests: '(p.issues_enabled or p.merge_requests_enabled)',
};

/**
 * Whether the user `u` may do something with the project `p` in `n`, as `can` of the policy says it, in a statement
 * that asks for many users or many projects. Needs `memberTables('u.id')`. Blocked users are not told apart.
 */
export function userCan(ability: ProjectAbility): string {
  const { from, visible, feature, writes } = ruleOf(ability);
  const isVisible = '(p.visibility_level = 20 or p.visibility_level = 10 and not u.external)';
  const grounds = ['u.is_admin', `${viewerLevel('u.id')} >= ${from}`];
  if (visible) grounds.push(visible === 'public_builds' ? `${isVisible} and p.public_builds` : isVisible);
  const conditions = [`(${grounds.join(' or ')})`];
  if (feature) conditions.push(switches[feature]);
  if (writes) conditions.push('not p.archived');
  return conditions.join(' and ');
}

/** Whether the user `u`, who may read the snippets of its project, may read the snippet `sn`. */
export const seesSnippet = `(u.is_admin or sn.author_id = u.id or sn.visibility_level = 20
  or sn.visibility_level = 10 and (not u.external or ${viewerLevel('u.id')} > 0))`;
