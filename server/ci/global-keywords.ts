import { cache } from './cache.ts';
import { image, services } from './images.ts';
import { ignored, mapping, optional, type Reader, textList, unsupported } from './readers.ts';
import { script } from './script.ts';
import { variables } from './variables-reader.ts';

export const defaultStages = ['build', 'test', 'deploy'];

const readStages = textList('stages.type');

const stages: Reader<string[]> = (node, at) => {
  const names = readStages(node, at);
  if (names?.length !== 0) return names;
  at.error('stages.empty', node, 'must list at least one stage');
  return undefined;
};

const workflow = mapping('workflow', {
  rules: unsupported('use only and except in the jobs'),
  name: ignored('pipelines have no names'),
  auto_cancel: ignored('a newer pipeline does not stop an older one'),
});

/** Every key of the file that is not a job. */
export const globalKeywords = {
  image: optional(image),
  services: optional(services),
  stages: optional(stages),
  types: optional(stages),
  before_script: optional(script),
  after_script: optional(script),
  variables: optional(variables),
  cache: optional(cache),
};

/** Keys that came later: an older file may have a job of that name. */
export const laterGlobalKeywords = {
  include: unsupported('copy the text into this file'),
  default: unsupported('set the keys at the top of the file'),
  spec: unsupported('use variables'),
  workflow: optional(workflow),
};
