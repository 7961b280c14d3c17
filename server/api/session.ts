import { signIn } from '../actions/sign-in.ts';
import { forgetAttempt, throttleSignIn } from '../actions/throttle.ts';
import { missing, unauthorized } from '../errors.ts';
import { anyone, signedIn } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { optional, text } from '../http/params.ts';
import { presentUserFull, UserSessionJson } from '../present/user.ts';
import { privateTokenOf } from '../queries/private-token.ts';
import { userById } from '../queries/user-row.ts';

const createSession = endpoint({
  method: 'POST',
  path: '/session',
  summary: 'Signs in with user name or e-mail and password, and tells the private token',
  access: anyone(),
  params: {
    login: optional(text({ max: 255 })),
    email: optional(text({ max: 255 })),
    password: { ...text({ max: 1024 }), keepBlank: true },
  },
  returns: UserSessionJson,
  transaction: false,
  async run({ params, work, address }) {
    const login = params.email ?? params.login;
    if (login === undefined) throw missing('login');
    await throttleSignIn(work, { address, login });
    const user = await signIn(work, login, params.password);
    await forgetAttempt(work, { address, login });
    const token = await privateTokenOf(work.em, work.secrets, user.id);
    return { ...presentUserFull(user, work.origin), private_token: token };
  },
});

const getUser = endpoint({
  method: 'GET',
  path: '/user',
  summary: 'Oneself, with the private token',
  access: signedIn(),
  returns: UserSessionJson,
  async run({ viewer, work }) {
    const user = await userById(work.em, viewer.id);
    if (!user) throw unauthorized();
    const token = await privateTokenOf(work.em, work.secrets, user.id);
    return { ...presentUserFull(user, work.origin), private_token: token };
  },
});

export const endpoints: Endpoint[] = [createSession, getUser];
