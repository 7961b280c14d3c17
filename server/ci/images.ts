import { ignored, listOf, mapping, optional, type Reader, text, unsupported, wrongType } from './readers.ts';

const docker = mapping('image.docker', {
  user: unsupported('set the user in the image'),
  platform: unsupported('name an image of that platform'),
});

const imageForm = mapping('image', {
  name: optional(text('image.type')),
  entrypoint: unsupported('name an image whose entrypoint runs its arguments'),
  pull_policy: ignored('the policy of the runner holds'),
  docker: optional(docker),
  kubernetes: ignored('it concerns another executor'),
  ports: ignored('services are reached without it'),
});

const serviceForm = mapping('services', {
  name: optional(text('services.item.type')),
  alias: unsupported('the host name comes from the image name'),
  command: unsupported('name an image that starts by itself'),
  entrypoint: unsupported('name an image that starts by itself'),
  variables: unsupported('use the variables of the job'),
  pull_policy: ignored('the policy of the runner holds'),
  docker: optional(docker),
  kubernetes: ignored('it concerns another executor'),
  ports: ignored('services are reached without it'),
});

/** A name as text, or as `name` of a mapping. */
function named(kind: string, form: Reader<{ name: string | null }>): Reader<string> {
  return (node, at) => {
    if (node.kind === 'scalar' && typeof node.value === 'string') return node.value;
    if (node.kind !== 'map') return wrongType({ kind, wanted: 'text', node, at });
    const name = form(node, at)?.name ?? undefined;
    if (name === undefined && !node.entries.has('name')) at.error(kind, node, 'needs a name');
    return name;
  };
}

export const image: Reader<string> = named('image.type', imageForm);

export const services: Reader<string[]> = listOf({
  kind: 'services.type',
  read: named('services.item.type', serviceForm),
  single: 'warn',
});

const environmentForm = mapping('environment', {
  name: optional(text('environment.type')),
  url: ignored('addresses of environments are not kept yet'),
  action: ignored('environments are only named'),
  on_stop: ignored('environments are only named'),
  auto_stop_in: ignored('environments are only named'),
  deployment_tier: ignored('environments are only named'),
  kubernetes: ignored('environments are only named'),
});

/** The name of an environment; what else a mapping says of it is skipped with a warning. */
export const environment: Reader<string> = named('environment.type', environmentForm);
