import { z } from 'zod';
import { listContributors } from '../git/contributors.ts';
import { onProject } from '../http/access.ts';
import { PageAnswer } from '../http/answers.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { pageOf } from '../http/page-of.ts';
import { repositoryOf } from '../queries/repository.ts';
import { headOf, inTime } from './commit-lookup.ts';

/** Interface: "Contributor". */
const ContributorJson = z.strictObject({
  name: z.string(),
  email: z.string(),
  commits: z.number(),
  additions: z.number(),
  deletions: z.number(),
});

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/contributors',
  summary: 'Who wrote the newest 2000 commits of the default branch, merges apart',
  access: onProject('read_code'),
  returns: ContributorJson,
  list: true,
  async run({ project, page, work }) {
    const head = await headOf(work, project, undefined);
    if (head === null) return new PageAnswer([], 0);
    return pageOf(await inTime(() => listContributors(repositoryOf(work, project), head)), page);
  },
});

export const endpoints: Endpoint[] = [list];
