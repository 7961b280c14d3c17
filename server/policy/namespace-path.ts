/**
 * First parts of paths that stand for something else than a user or a group: the server's own routes, those that
 * users of this interface expect to stay free, and names under which git shows something else than a password.
 */
const reserved = new Set([
  'admin',
  'all',
  'api',
  'assets',
  'ci',
  'dashboard',
  'files',
  'gitlab-ci-token',
  'groups',
  'healthz',
  'help',
  'hooks',
  'issues',
  'merge_requests',
  'metrics',
  'new',
  'notes',
  'oauth',
  'oauth2',
  'profile',
  'projects',
  'public',
  'readyz',
  'repository',
  's',
  'search',
  'services',
  'snippets',
  'teams',
  'u',
  'unsubscribes',
  'uploads',
  'users',
]);

const form = /^(?:[A-Za-z0-9_.][A-Za-z0-9_.-]*)?[A-Za-z0-9_-]$/;

/** What is wrong with the name of a user, or the path of a group; empty when nothing is. Whether it is free is not seen. */
export function namespacePathFaults(path: string): string[] {
  if (path.trim() === '') return ["can't be blank"];
  if (path.length > 255) return ['is too long (maximum is 255 characters)'];
  if (!form.test(path) || path.startsWith('-')) {
    return ["can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.'."];
  }
  return reserved.has(path.toLowerCase()) ? [`${path} is a reserved name`] : [];
}
