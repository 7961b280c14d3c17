import { z } from 'zod';
import { protectBranch, unprotectBranch } from '../actions/branch-protection.ts';
import { createBranch, removeBranch } from '../actions/branches.ts';
import { notFound } from '../errors.ts';
import { listRefs } from '../git/refs.ts';
import { onProject } from '../http/access.ts';
import { PageAnswer } from '../http/answers.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { pageOf } from '../http/page-of.ts';
import { flag, optional, pathText, revision } from '../http/params.ts';
import { BranchJson, presentBranch } from '../present/branch.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import { describeBranches, type FoundRef, findRef, findShownRef } from './ref-lookup.ts';

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/branches',
  summary: 'Branches by name',
  access: onProject('read_code'),
  returns: BranchJson,
  list: true,
  async run({ project, page, work }) {
    const refs = await listRefs(repositoryOf(work, project), ['refs/heads']);
    const branches = refs.map(({ name, sha }) => ({ name: name.slice('refs/heads/'.length), sha }));
    const { items, total } = pageOf(branches, page);
    const described = await describeBranches(work, project, items);
    return new PageAnswer(described.map(presentBranch), total);
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/branches/*branch',
  summary: 'One branch',
  access: onProject('read_code'),
  params: { branch: pathText() },
  returns: BranchJson,
  async run({ project, params, work }) {
    const branch = await findShownRef(work, project, { kind: 'branch', name: params.branch });
    if (!branch) throw notFound('Branch');
    return presentOne(work, project, branch);
  },
});

const protect = endpoint({
  method: 'PUT',
  path: '/projects/:id/repository/branches/*branch/protect',
  summary: 'Protects a branch: only masters push to it then, and developers where that is allowed',
  access: onProject('admin_project'),
  params: {
    branch: pathText(),
    developers_can_push: optional(flag()),
    developers_can_merge: optional(flag()),
  },
  returns: BranchJson,
  async run({ project, params, work }) {
    const branch = await requireBranch(work, project, params.branch);
    await protectBranch(work, {
      projectId: project.id,
      branch: branch.name,
      developersCanPush: params.developers_can_push,
      developersCanMerge: params.developers_can_merge,
    });
    return presentOne(work, project, branch);
  },
});

const unprotect = endpoint({
  method: 'PUT',
  path: '/projects/:id/repository/branches/*branch/unprotect',
  summary: 'Ends the protection of a branch',
  access: onProject('admin_project'),
  params: { branch: pathText() },
  returns: BranchJson,
  async run({ project, params, work }) {
    const branch = await requireBranch(work, project, params.branch);
    await unprotectBranch(work, { projectId: project.id, branch: branch.name });
    return presentOne(work, project, branch);
  },
});

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/branches',
  summary: 'Makes a branch from a branch, a tag or a commit',
  access: onProject('push_code'),
  params: { branch_name: revision(), ref: revision() },
  status: 200,
  creates: true,
  returns: BranchJson,
  transaction: false,
  async run({ viewer, project, params, work }) {
    const name = params.branch_name;
    const sha = await createBranch(work, { viewer, project, name, from: params.ref });
    return presentOne(work, project, { name, sha });
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/repository/branches/*branch',
  summary: 'Removes a branch that is neither protected nor the default one',
  access: onProject('push_code'),
  params: { branch: pathText() },
  returns: z.strictObject({ branch_name: z.string() }),
  transaction: false,
  async run({ viewer, project, params, work }) {
    await removeBranch(work, { viewer, project, name: params.branch });
    return { branch_name: params.branch };
  },
});

export const endpoints: Endpoint[] = [list, get, protect, unprotect, create, remove];

async function requireBranch(work: Work, project: { id: number }, name: string): Promise<FoundRef> {
  const branch = await findRef(work, project, { kind: 'branch', name });
  if (!branch) throw notFound('Branch');
  return branch;
}

async function presentOne(work: Work, project: { id: number }, branch: FoundRef) {
  const [described] = await describeBranches(work, project, [branch]);
  if (!described) throw new Error('a branch was not described');
  return presentBranch(described);
}
