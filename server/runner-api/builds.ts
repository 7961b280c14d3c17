import { z } from 'zod';
import { BuildPayload } from '../../shared/protocol/build.ts';
import { RunnerInfo } from '../../shared/protocol/runner.ts';
import { awaitBuild } from '../actions/await-build.ts';
import { type ClaimedBuild, claimBuild, returnBuild } from '../actions/claim-build.ts';
import { noteContact } from '../actions/note-contact.ts';
import { updateBuild } from '../actions/update-build.ts';
import { nothingHere } from '../errors.ts';
import { withRunnerToken } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { choice, object, optional, pathText, rawText, readId, text } from '../http/params.ts';
import { readPreferWait } from '../http/prefer.ts';
import { presentBuildPayload } from '../present/build-payload.ts';
import { findDependencies, findPayload } from '../queries/build-payload.ts';
import { secretVariables } from '../queries/ci-variables.ts';
import type { Work } from '../services.ts';
import { inTransaction } from '../sql.ts';

/** What a runner says of itself is of use, but no reason to refuse its build. */
const tolerantInfo = RunnerInfo.catch({});

const registerBuild = endpoint({
  method: 'POST',
  path: '/builds/register',
  summary: 'Hands the oldest pending build that the runner may take to it',
  access: withRunnerToken(),
  params: { token: text({ max: 255 }), info: optional(object(tolerantInfo)) },
  returns: BuildPayload,
  // It may wait for a minute, and a claim is one statement.
  transaction: false,
  async run({ runner, params, work, header, signal }) {
    await noteContact(work, runner, params.info);
    const waitMs = readPreferWait(header('prefer')) * 1000;
    const build =
      waitMs > 0
        ? await awaitBuild(work, { runnerId: runner.id, waitMs, signal })
        : await claimBuild(work, runner);
    if (!build) throw nothingHere();
    return handOver(work, build, signal);
  },
});

/** What the runner is told of its build. A build that it cannot be told of goes back into the queue. */
async function handOver(work: Work, build: ClaimedBuild, signal: AbortSignal): Promise<BuildPayload> {
  let payload: BuildPayload | null = null;
  try {
    payload = await payloadOf(work, build.id);
  } finally {
    if (!payload || signal.aborted) await giveBack(work, build);
  }
  if (!payload) throw nothingHere();
  return payload;
}

async function giveBack(work: Work, build: ClaimedBuild): Promise<void> {
  await inTransaction(work, (inner) => returnBuild(inner, build));
}

async function payloadOf(work: Work, buildId: number): Promise<BuildPayload | null> {
  const row = await findPayload(work.em, buildId);
  if (!row) return null;
  const dependencies = await findDependencies(work.em, buildId);
  const token = work.secrets.buildToken(buildId);
  const secrets = await secretVariables(work.em, work.secrets, row);
  return presentBuildPayload({ row, dependencies, token, secrets, origin: work.origin });
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
    trace: optional(rawText()),
    info: optional(object(tolerantInfo)),
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
