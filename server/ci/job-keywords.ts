import { artifacts } from './artifacts.ts';
import { cache } from './cache.ts';
import type { JobWhen } from './config.ts';
import { environment, image, services } from './images.ts';
import { limits } from './limits.ts';
import {
  choice,
  flag,
  ignored,
  optional,
  type Reader,
  text,
  textList,
  unsupported,
  withDefault,
  wrongType,
} from './readers.ts';
import { refPatterns } from './ref-patterns.ts';
import { compilePattern, PatternError } from './regex.ts';
import { script } from './script.ts';
import { variables } from './variables-reader.ts';

const readWhen = choice<JobWhen | 'delayed'>('when.value', [
  'on_success',
  'on_failure',
  'always',
  'manual',
  'delayed',
]);

const when: Reader<JobWhen> = (node, at) => {
  const value = readWhen(node, at);
  if (value !== 'delayed') return value;
  at.warn('when.delayed', node, 'delayed jobs are not supported yet, the job waits to be started by hand');
  return 'manual';
};

const readFlag = flag('allow_failure.type');

const allowFailure: Reader<boolean> = (node, at) => {
  if (node.kind !== 'map') return readFlag(node, at);
  at.error('key.unsupported', node, '"exit_codes" is not supported by this server (use true or false)');
  return undefined;
};

const readTags = textList('tags.type');

const tags: Reader<string[]> = (node, at) => {
  const list = readTags(node, at);
  if (!list || (list.length <= limits.tags && list.join('').length <= limits.tagsLength)) return list;
  const message = `a job has at most ${limits.tags} tags of ${limits.tagsLength} characters together`;
  at.error('tags.limit', node, message);
  return undefined;
};

const coverage: Reader<string> = (node, at) => {
  if (node.kind !== 'scalar')
    return wrongType({ kind: 'coverage.format', wanted: 'a /regular expression/', node, at });
  const [, source] = /^\/(.*)\/$/s.exec(node.text) ?? [];
  if (source === undefined) {
    at.error('coverage.format', node, 'must be a regular expression between slashes');
    return undefined;
  }
  try {
    compilePattern({ source, ignoreCase: false });
    return source;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    at.error('coverage.regex', node, error.message);
    return undefined;
  }
};

/** Every key of a job. A key that is listed as unsupported or ignored becomes a reader once it is built. */
export const jobKeywords = {
  script: optional(script),
  stage: optional(text('job.stage.type')),
  type: optional(text('job.stage.type')),
  image: optional(image),
  services: optional(services),
  before_script: optional(script),
  after_script: optional(script),
  variables: optional(variables),
  tags: withDefault<string[]>(tags, []),
  only: optional(refPatterns('only')),
  except: optional(refPatterns('except')),
  allow_failure: optional(allowFailure),
  when: withDefault<JobWhen>(when, 'on_success'),
  dependencies: optional(textList('dependencies.type')),
  artifacts: optional(artifacts),
  cache: optional(cache),
  environment: optional(environment),
  coverage: optional(coverage),
  rules: unsupported('use only and except'),
  needs: unsupported('order the jobs by stages'),
  extends: unsupported('use an anchor and a merge key'),
  inherit: unsupported('set the keys in the job itself'),
  parallel: unsupported('write the jobs out'),
  trigger: unsupported('call the trigger API from a script'),
  resource_group: unsupported('use a single runner for these jobs'),
  release: unsupported('call the API from a script'),
  secrets: unsupported('use project variables'),
  id_tokens: unsupported('use project variables'),
  identity: unsupported('use project variables'),
  run: unsupported('use script'),
  inputs: unsupported('use variables'),
  dast_configuration: unsupported('call the scanner from a script'),
  retry: ignored('the job runs once'),
  timeout: ignored('the time limit of the project holds'),
  interruptible: ignored('a newer pipeline does not stop the job'),
  start_in: ignored('delayed jobs are started by hand'),
  pages: ignored('sites are not published'),
  publish: ignored('sites are not published'),
  hooks: ignored('only the script is run'),
  manual_confirmation: ignored('no question is asked'),
};
