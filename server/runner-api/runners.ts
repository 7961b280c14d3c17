import { z } from 'zod';
import { RegisteredRunner, RunnerInfo } from '../../shared/protocol/runner.ts';
import { deleteRunner } from '../actions/delete-runner.ts';
import { registerRunner } from '../actions/register-runner.ts';
import { anyone, withRunnerToken } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { flag, object, optional, text, words } from '../http/params.ts';

const register = endpoint({
  method: 'POST',
  path: '/runners/register',
  summary: 'Registers a runner: shared with the token of the instance, specific with that of a project',
  access: anyone(),
  params: {
    token: text({ max: 255 }),
    description: optional(text({ max: 255 })),
    tag_list: optional(words()),
    run_untagged: optional(flag()),
    locked: optional(flag()),
    info: optional(object(RunnerInfo)),
  },
  returns: RegisteredRunner,
  async run({ params, work }) {
    return registerRunner(work, {
      token: params.token,
      description: params.description ?? null,
      tags: params.tag_list ?? [],
      runUntagged: params.run_untagged ?? true,
      locked: params.locked ?? false,
      info: params.info ?? {},
    });
  },
});

const unregister = endpoint({
  method: 'DELETE',
  path: '/runners/delete',
  summary: 'Removes the runner that the token belongs to',
  access: withRunnerToken(),
  params: { token: text({ max: 255 }) },
  returns: z.null(),
  async run({ runner, work }) {
    await deleteRunner(work, runner.id);
    return null;
  },
});

export const endpoints: Endpoint[] = [register, unregister];
