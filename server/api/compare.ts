import { compareCommits } from '../git/compare.ts';
import { resolveCommit } from '../git/refs.ts';
import { onProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { revision } from '../http/params.ts';
import { ComparisonJson, presentComparison } from '../present/comparison.ts';
import { repositoryOf } from '../queries/repository.ts';

const nothing = { commits: [], files: [], isIncomplete: false };

const compare = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/compare',
  summary: 'What a branch, tag or commit has that another one has not, since their histories parted',
  access: onProject('read_code'),
  params: { from: revision(), to: revision() },
  returns: ComparisonJson,
  async run({ project, params, work, signal }) {
    const dir = repositoryOf(work, project);
    const from = await resolveCommit(work.objects, dir, params.from);
    const to = await resolveCommit(work.objects, dir, params.to);
    const isSame = from !== null && from === to;
    const found =
      from === null || to === null || isSame
        ? nothing
        : await compareCommits(work.objects, { dir, from, to, signal });
    return presentComparison(found, isSame);
  },
});

export const endpoints: Endpoint[] = [compare];
