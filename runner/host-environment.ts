/** All that jobs of the shell executor get of this process's environment. */
const jobNames = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'LOGNAME', 'SHELL', 'TMPDIR', 'TZ', 'USER'];
/** How git on this host reaches the server. */
const gitNames = ['PATH', 'HOME', 'TMPDIR', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO'];
const proxyNames = [
  'http_proxy',
  'https_proxy',
  'HTTPS_PROXY',
  'all_proxy',
  'ALL_PROXY',
  'no_proxy',
  'NO_PROXY',
];

export interface HostEnvironment {
  job: Record<string, string>;
  git: Record<string, string>;
}

/** The few variables of this process that other programs may see; the rest may hold secrets of the host. */
export function hostEnvironment(environment: NodeJS.ProcessEnv): HostEnvironment {
  return {
    job: pick(environment, jobNames),
    git: pick(environment, [...gitNames, ...proxyNames]),
  };
}

function pick(environment: NodeJS.ProcessEnv, names: string[]): Record<string, string> {
  const found: Record<string, string> = { PATH: '/usr/local/bin:/usr/bin:/bin' };
  for (const name of names) {
    const value = environment[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}
