/** What a runner written in Go can unmarshal: it drops a build whose payload has one wrong type. */
type Check = (value: unknown, path: string) => void;

const text: Check = (value, path) => demand(typeof value === 'string', path, 'a string');
const whole: Check = (value, path) => demand(Number.isSafeInteger(value), path, 'an integer');
const yesNo: Check = (value, path) => demand(typeof value === 'boolean', path, 'a boolean');

function listOf(check: Check): Check {
  return (value, path) => {
    demand(Array.isArray(value), path, 'an array');
    for (const [index, item] of (value as unknown[]).entries()) check(item, `${path}[${index}]`);
  };
}

/** Keys with a `?` may be absent, but never null. Other keys than these are not expected. */
function objectOf(shape: Record<string, Check>): Check {
  return (value, path) => {
    demand(typeof value === 'object' && value !== null && !Array.isArray(value), path, 'an object');
    const given = value as Record<string, unknown>;
    const known = new Set(Object.keys(shape).map((key) => key.replace('?', '')));
    for (const key of Object.keys(given)) demand(known.has(key), `${path}.${key}`, 'no such key');
    for (const [key, check] of Object.entries(shape)) {
      const name = key.replace('?', '');
      if (key.endsWith('?') && !Object.hasOwn(given, name)) continue;
      check(given[name], `${path}.${name}`);
    }
  };
}

const sha: Check = (value, path) =>
  demand(typeof value === 'string' && /^[0-9a-f]{40}$/.test(value), path, 'a sha of 40 digits');
const file = objectOf({ filename: text, size: whole });

const options = objectOf({
  'image?': text,
  'services?': listOf(text),
  'artifacts?': objectOf({
    'name?': text,
    'untracked?': yesNo,
    'paths?': listOf(text),
    'when?': text,
    'expire_in?': text,
  }),
  'cache?': objectOf({ 'key?': text, 'untracked?': yesNo, 'paths?': listOf(text) }),
  'dependencies?': listOf(text),
  'after_script?': listOf(text),
});

const dependency = objectOf({
  id: whole,
  token: text,
  name: text,
  stage: text,
  ref: text,
  sha,
  tag: yesNo,
  status: text,
  project_id: whole,
  project_name: text,
  'artifacts_file?': file,
});

const payload = objectOf({
  id: whole,
  project_id: whole,
  project_name: text,
  token: text,
  status: text,
  name: text,
  stage: text,
  ref: text,
  tag: yesNo,
  sha,
  before_sha: sha,
  repo_url: text,
  commands: text,
  allow_git_fetch: yesNo,
  timeout: whole,
  options,
  variables: listOf(objectOf({ key: text, value: text, public: yesNo })),
  depends_on_builds: listOf(dependency),
  ext: objectOf({ script: listOf(text) }),
});

/** @throws when a runner would drop the build, with the place and what it should have been. */
export function checkPayload(value: unknown): void {
  payload(value, 'payload');
}

function demand(isRight: boolean, path: string, expected: string): void {
  if (!isRight) throw new TypeError(`${path} is not ${expected}`);
}
