import { parseCiConfig } from '../ci/parse.ts';
import { signedIn } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { rawText } from '../http/params.ts';
import { LintJson, presentLint } from '../present/lint.ts';

const lint = endpoint({
  method: 'POST',
  path: '/ci/lint',
  summary: 'Says what is wrong with a CI file, and what becomes of its jobs, without a pipeline',
  access: signedIn(),
  params: { content: rawText() },
  status: 200,
  returns: LintJson,
  transaction: false,
  async run({ params }) {
    return presentLint(parseCiConfig(params.content));
  },
});

export const endpoints: Endpoint[] = [lint];
