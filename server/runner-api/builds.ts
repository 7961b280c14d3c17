import { z } from 'zod';
import { BuildPayload } from '../../shared/protocol/build.ts';
import { RunnerInfo } from '../../shared/protocol/runner.ts';
import { awaitBuild } from '../actions/await-build.ts';
import { claimBuild, returnBuild } from '../actions/claim-build.ts';
import { noteContact } from '../actions/note-contact.ts';
import { updateBuild } from '../actions/update-build.ts';
import { forbidden, nothingHere } from '../errors.ts';
import { withRunnerToken, withUncheckedRunnerToken } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { choice, object, optional, pathText, rawText, readId, text } from '../http/params.ts';
import { readPreferWait } from '../http/prefer.ts';
import { presentBuildPayload } from '../present/build-payload.ts';
import type { PayloadRow } from '../queries/build-payload.ts';
import { openVariables } from '../queries/ci-variables.ts';
import type { RunnerContact } from '../queries/runner-row.ts';
import { tokenDigest } from '../secrets.ts';
import type { Work } from '../services.ts';
import { inTransaction } from '../sql.ts';

/** What a runner says of itself is of use, but no reason to refuse its build. */
const tolerantInfo = RunnerInfo.catch({});

const registerBuild = endpoint({
  method: 'POST',
  path: '/builds/register',
  summary: 'Hands the oldest pending build that the runner may take to it',
  access: withUncheckedRunnerToken(),
  params: { token: rawText(), info: optional(object(tolerantInfo)) },
  returns: BuildPayload,
  // It may wait for a minute, and a claim is one statement.
  transaction: false,
  async run(call) {
    const { work, params, header } = call;
    const claim = await claimBuild(work, { by: 'token', value: tokenDigest(params.token) });
    if (!claim) throw forbidden();
    const { runner } = claim;
    if (claim.build) return handOver(call, { runner, build: claim.build });
    await noteContact(work, runner, params.info);
    const waitMs = readPreferWait(header('prefer')) * 1000;
    if (waitMs === 0) throw nothingHere();
    const build = await awaitBuild(work, { runnerId: runner.id, waitMs, signal: call.signal });
    if (!build) throw nothingHere();
    return handOver(call, { runner, build });
  },
});

interface Asking {
  work: Work;
  params: { info?: RunnerInfo | undefined };
  signal: AbortSignal;
}

/** What the runner is told of its build. A build that it cannot be told of goes back into the queue. */
async function handOver(call: Asking, { runner, build }: Taken): Promise<BuildPayload> {
  const { work } = call;
  let payload: BuildPayload | null = null;
  try {
    await noteContact(work, runner, call.params.info);
    payload = presentPayload(work, build);
    return payload;
  } finally {
    if (!payload || call.signal.aborted) await inTransaction(work, (inner) => returnBuild(inner, build));
  }
}

interface Taken {
  runner: RunnerContact;
  build: PayloadRow;
}

function presentPayload({ secrets, origin }: Work, row: PayloadRow): BuildPayload {
  const token = secrets.buildToken(row.id);
  return presentBuildPayload({ row, token, secrets: openVariables(secrets, row), origin });
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
