import { z } from 'zod';
import { BuildPayload } from '../../shared/protocol/build.ts';
import { RunnerInfo } from '../../shared/protocol/runner.ts';
import { claimBuild, returnBuild } from '../actions/claim-build.ts';
import { noteContact } from '../actions/note-contact.ts';
import { updateBuild } from '../actions/update-build.ts';
import { nothingHere } from '../errors.ts';
import { withRunnerToken } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { choice, object, optional, pathText, readId, text } from '../http/params.ts';
import { readPreferWait } from '../http/prefer.ts';
import { presentBuildPayload } from '../present/build-payload.ts';
import { findDependencies, findPayload } from '../queries/build-payload.ts';
import { projectsOfRunner } from '../queries/runner-projects.ts';
import { type RunnerRow, runnerById } from '../queries/runner-row.ts';
import type { Work } from '../services.ts';

/** A hint may get lost with a connection; asking again now and then costs little. */
const askAgainMs = 15_000;

const registerBuild = endpoint({
  method: 'POST',
  path: '/builds/register',
  summary: 'Hands the oldest pending build that the runner may take to it',
  access: withRunnerToken(),
  params: { token: text({ max: 255 }), info: optional(object(RunnerInfo)) },
  returns: BuildPayload,
  // It may wait for a minute, and a claim is one statement.
  transaction: false,
  async run({ runner, params, work, header, signal }) {
    await noteContact(work, runner, params.info);
    if (!runner.active) throw nothingHere();
    const waitMs = readPreferWait(header('prefer')) * 1000;
    const id =
      waitMs > 0 ? await waitForBuild(work, { runner, waitMs, signal }) : await claimBuild(work, runner);
    if (id === null) throw nothingHere();
    if (signal.aborted) await returnBuild(work, id);
    return payloadOf(work, id);
  },
});

interface Waiting {
  runner: RunnerRow;
  waitMs: number;
  signal: AbortSignal;
}

/** Claims as soon as there is something to claim, or gives up after the time that the runner is ready to wait. */
async function waitForBuild(work: Work, { runner, waitMs, signal }: Waiting): Promise<number | null> {
  const deadline = Date.now() + waitMs;
  const projects = runner.is_shared ? [] : await projectsOfRunner(work.em, runner.id);
  const place = work.wakeups.register({
    runnerId: runner.id,
    isShared: runner.is_shared,
    tags: runner.tag_list,
    runUntagged: runner.run_untagged,
    projectIds: new Set(projects.map((project) => project.id)),
  });
  try {
    let current: RunnerRow | null = runner;
    for (;;) {
      const id = await claimBuild(work, current);
      const left = deadline - Date.now();
      if (id !== null || left <= 0 || signal.aborted || work.wakeups.stopped) return id;
      await place.next(Math.min(left, askAgainMs), signal);
      if (signal.aborted) return null;
      current = await runnerById(work.em, runner.id);
      if (!current?.active) return null;
    }
  } finally {
    place.done();
  }
}

async function payloadOf(work: Work, buildId: number): Promise<BuildPayload> {
  const row = await findPayload(work.em, buildId);
  if (!row) throw nothingHere();
  const dependencies = await findDependencies(work.em, buildId);
  const token = work.secrets.buildToken(buildId);
  return presentBuildPayload({ row, dependencies, token, origin: work.origin });
}

const putBuild = endpoint({
  method: 'PUT',
  path: '/builds/:id',
  summary: 'Takes the state of a build, and its whole trace, from its runner',
  access: withRunnerToken(),
  params: {
    id: pathText(),
    token: text({ max: 255 }),
    state: optional(choice(['pending', 'running', 'success', 'failed', 'canceled'])),
    trace: optional({ ...text({ max: 40 * 1024 * 1024 }), keepBlank: true }),
    info: optional(object(RunnerInfo)),
  },
  returns: z.boolean(),
  body: 'trace',
  async run({ runner, params, work }) {
    await noteContact(work, runner, params.info);
    // `builds/-1` is how a runner asks whether it is still registered.
    const id = readId(params.id);
    await updateBuild(work, { id, runner, state: params.state, trace: params.trace });
    return true;
  },
});

export const endpoints: Endpoint[] = [registerBuild, putBuild];
