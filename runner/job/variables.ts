import type { BuildPayload, BuildVariable } from '../../shared/protocol/build.ts';
import { escapeVariables, expandVariables } from '../../shared/variables.ts';

/** Facts that only this runner knows. */
export interface RunnerFacts {
  version: string;
  architecture: string;
  /** First characters of the runner's token; no secret. */
  shortToken: string;
  /** Lowest free number among all builds of this process, and among those of the same project. */
  slot: number;
  projectSlot: number;
  /** Set in the config file for all builds of the registration. */
  environment: Record<string, string>;
}

/** What the runner adds; the server's variables of the same name win. */
export function runnerVariables(build: BuildPayload, facts: RunnerFacts): BuildVariable[] {
  const made: Record<string, string> = {
    CI: 'true',
    GITLAB_CI: 'true',
    CI_SERVER: 'yes',
    CI_SERVER_NAME: 'Hearth',
    CI_SERVER_VERSION: '',
    CI_SERVER_REVISION: '',
    ...bothNames('ID', String(build.id)),
    ...bothNames('NAME', build.name),
    ...bothNames('STAGE', build.stage),
    CI_BUILD_REF: build.sha,
    CI_COMMIT_SHA: build.sha,
    CI_BUILD_BEFORE_SHA: build.before_sha,
    CI_COMMIT_BEFORE_SHA: build.before_sha,
    CI_BUILD_REF_NAME: build.ref,
    CI_COMMIT_REF_NAME: build.ref,
    CI_PROJECT_ID: String(build.project_id),
    CI_RUNNER_VERSION: facts.version,
    CI_RUNNER_SHORT_TOKEN: facts.shortToken,
    CI_RUNNER_EXECUTABLE_ARCH: facts.architecture,
    CI_CONCURRENT_ID: String(facts.slot),
    CI_CONCURRENT_PROJECT_ID: String(facts.projectSlot),
    CI_DEBUG_TRACE: 'false',
  };
  const secret = {
    ...bothNames('TOKEN', build.token),
    CI_BUILD_REPO: build.repo_url,
    CI_REPOSITORY_URL: build.repo_url,
  };
  return [
    ...toList(facts.environment, false),
    ...escaped(toList(made, true)),
    ...escaped(toList(secret, false)),
  ];
}

function bothNames(suffix: string, value: string): Record<string, string> {
  return { [`CI_BUILD_${suffix}`]: value, [`CI_JOB_${suffix}`]: value };
}

function toList(values: Record<string, string>, isPublic: boolean): BuildVariable[] {
  return Object.entries(values).map(([key, value]) => ({ key, value, public: isPublic }));
}

/** A `$` in the name of a job or branch is no reference. */
function escaped(variables: BuildVariable[]): BuildVariable[] {
  return variables.map((variable) => ({ ...variable, value: escapeVariables(variable.value) }));
}

/**
 * One variable per name, later ones over earlier ones, with references to others replaced once.
 */
export function resolveVariables(...lists: BuildVariable[][]): BuildVariable[] {
  const byKey = new Map<string, BuildVariable>();
  for (const variable of lists.flat()) {
    byKey.delete(variable.key);
    byKey.set(variable.key, variable);
  }
  const lookup = (name: string) => byKey.get(name)?.value;
  return [...byKey.values()].map((variable) => ({
    ...variable,
    value: expandVariables(variable.value, lookup),
  }));
}

/** Replaces references in a text of the job's options, such as the image or the name of the archive. */
export function expandText(text: string, variables: BuildVariable[]): string {
  return expandVariables(text, (name) => variables.find((variable) => variable.key === name)?.value);
}

/** Image and services with references replaced, as the executor takes them. */
export function expandOptions(build: BuildPayload, variables: BuildVariable[]): BuildPayload {
  const { image, services } = build.options;
  const options = {
    ...build.options,
    ...(image === undefined ? {} : { image: expandText(image, variables) }),
    ...(services === undefined ? {} : { services: services.map((text) => expandText(text, variables)) }),
  };
  return { ...build, options };
}

/** Value of a variable; an empty one counts as absent. */
export function textVariable(variables: BuildVariable[], key: string): string | undefined {
  return variables.find((variable) => variable.key === key)?.value || undefined;
}
