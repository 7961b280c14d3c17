export interface WelcomeFacts {
  url: string;
  /** Null when the administrator chose the password. */
  passwordFile: string | null;
  hasRunner: boolean;
}

/** What the terminal says once everything runs. */
export function welcome({ url, passwordFile, hasRunner }: WelcomeFacts): string {
  const password = passwordFile ? `$(cat ${passwordFile})` : 'YOUR-ROOT-PASSWORD';
  const runner = hasRunner
    ? []
    : ['', 'No runner was started: `npm run runner -- --help` tells how to add one.'];
  return [
    '',
    `Hearth is at ${url}`,
    passwordFile
      ? `The password of root is in ${passwordFile}`
      : 'The password of root is the one that you set',
    ...runner,
    '',
    'Next, in another terminal:',
    `  TOKEN=$(curl -s ${url}/api/v3/session -d login=root -d password="${password}" | sed 's/.*"private_token":"//; s/".*//')`,
    `  curl -s ${url}/api/v3/projects -H "PRIVATE-TOKEN: $TOKEN" -d name=my-project`,
    `  git push http://root:$TOKEN@${url.replace(/^https?:\/\//, '')}/root/my-project.git HEAD:master`,
    '',
    'Ctrl-C stops everything.',
    '',
  ].join('\n');
}
