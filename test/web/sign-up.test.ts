import test from 'ava';
import { createApp } from '../../server/app.ts';
import { createHttpServer } from '../../server/http/http-server.ts';
import { rootToken, withApp } from '../support/app.ts';
import { Browser, type BrowserAnswer, formsOf } from '../support/browser.ts';
import { password } from '../support/make.ts';
import { askFor, callback, makeApplication } from '../support/oauth.ts';

const holder = withApp();
const path = '/users/sign_up';
let count = 0;

/** What somebody fills in whom nobody knows yet. */
function fresh(more: Record<string, string> = {}): Record<string, string> {
  count += 1;
  return {
    name: `New ${count}`,
    username: `new${count}`,
    email: `New${count}@example.com`,
    password,
    ...more,
  };
}

async function submit(filled: Record<string, string>): Promise<{ browser: Browser; answer: BrowserAnswer }> {
  const browser = new Browser(holder.app.url);
  return { browser, answer: await browser.submit(await browser.get(path), filled) };
}

async function userNamed(username = ''): Promise<Record<string, unknown> | undefined> {
  const [user] = await holder.app.rows<Record<string, unknown>>('select * from users where username = $1', [
    username,
  ]);
  return user;
}

/** Fields with what is said of them. */
function faultsOf(page: string): Record<string, string> {
  const found = [...page.matchAll(/<p class="fault" id="(\w+)-fault" role="alert">([^<]*)<\/p>/g)];
  return Object.fromEntries(found.map(([, field, text]) => [field, text]));
}

async function withSettings(set: string, run: () => Promise<void>): Promise<void> {
  await holder.app.rows(`update settings set ${set}`);
  try {
    await run();
  } finally {
    await holder.app.rows(
      `update settings set signup_enabled = true, restricted_signup_domains = '{}', default_projects_limit = 10`,
    );
  }
}

test.serial('somebody registers and is signed in, as every new user is made', async (t) => {
  const { app } = holder;
  const hook = await app.call<{ id: number }>('POST', '/api/v3/hooks', {
    as: rootToken,
    form: { url: 'http://127.0.0.1:1/' },
  });
  const filled = fresh({ name: ' <b>Ada</b> ' });
  await withSettings('default_projects_limit = 3', async () => {
    const { browser, answer } = await submit(filled);
    t.is(answer.status, 303);
    t.is(answer.location, '/users/sign_in');
    t.regex((await browser.get('/users/sign_in')).text, new RegExp(`You are Ada \\(${filled.username}\\)`));
  });
  const user = await userNamed(filled.username);
  t.like(user, {
    name: 'Ada',
    email: filled.email?.toLowerCase(),
    projects_limit: 3,
    is_admin: false,
    external: false,
    state: 'active',
  });
  t.truthy(user?.confirmed_at);
  t.truthy(user?.current_sign_in_at);
  t.deepEqual(await app.rows('select path from namespaces where owner_id = $1', [user?.id]), [
    { path: filled.username },
  ]);
  const told = await app.rows<{ body: string }>('select body from hook_deliveries where hook_id = $1', [
    hook.body.id,
  ]);
  const bodies = told.map(({ body }) => JSON.parse(body));
  t.is(bodies.length, 1);
  t.like(bodies[0], { event_name: 'user_create', user_id: user?.id, username: filled.username });
  await app.call('DELETE', `/api/v3/hooks/${hook.body.id}`, { as: rootToken });
  const session = await app.call('POST', '/api/v3/session', {
    form: { login: filled.username ?? '', password },
  });
  t.is(session.status, 201);
});

test.serial('nobody gives himself rights', async (t) => {
  const filled = fresh({
    admin: 'true',
    is_admin: 'true',
    external: 'true',
    projects_limit: '1000',
    can_create_group: 'false',
    provider: 'ldap',
    extern_uid: 'x',
    token: rootToken,
    bio: 'x',
  });
  t.is((await submit(filled)).answer.status, 303);
  const user = await userNamed(filled.username);
  t.like(user, { is_admin: false, external: false, projects_limit: 10, can_create_group: true, bio: null });
  t.deepEqual(await holder.app.rows('select 1 from identities where user_id = $1', [user?.id]), []);
});

test.serial(
  'what is wrong is said at its field, and what was filled in stays, but for the password',
  async (t) => {
    const taken = await holder.app.make.user();
    const [{ email = '' } = {}] = await holder.app.rows<{ email: string }>(
      'select email from users where id = $1',
      [taken.id],
    );
    await holder.app.make.group({ path: 'a-group' });
    const cases: [Record<string, string>, Record<string, string>][] = [
      [
        { name: ' ', username: '', email: '', password: '' },
        {
          name: 'can&#39;t be blank',
          username: 'can&#39;t be blank',
          email: 'can&#39;t be blank',
          password: 'is too short (minimum is 8 characters)',
        },
      ],
      [
        { username: taken.username.toUpperCase(), email: email.toUpperCase() },
        { username: 'has already been taken', email: 'has already been taken' },
      ],
      [{ username: 'a-group' }, { username: 'has already been taken' }],
      [{ username: 'oauth' }, { username: 'oauth is a reserved name' }],
      [{ email: 'x' }, { email: 'is invalid' }],
      [
        { name: 'n'.repeat(256), password: 'p'.repeat(129) },
        {
          name: 'is too long (maximum is 255 characters)',
          password: 'is too long (maximum is 128 characters)',
        },
      ],
    ];
    for (const [wrong, told] of cases) {
      const filled = fresh(wrong);
      const { answer, browser } = await submit(filled);
      t.is(answer.status, 400);
      t.deepEqual(faultsOf(answer.text), told);
      const fields = formsOf(answer.text)[0]?.fields ?? {};
      t.like(fields, {
        name: filled.name,
        username: filled.username,
        email: filled.email,
        password: '',
      });
      t.false(browser.cookies.has('hearth_session'));
      t.is(await userNamed(filled.username), undefined);
      const again = await browser.submit(answer, fresh());
      t.is(again.status, 303, 'the same page can be sent again');
    }
  },
);

test.serial('what is filled in is no part of the page', async (t) => {
  const evil = `"><script>alert('x')</script>`;
  const { answer } = await submit({ name: evil, username: evil, email: evil, password: evil });
  t.is(answer.status, 400);
  t.false(answer.text.includes('<script>'));
  t.is(formsOf(answer.text)[0]?.fields.username, evil);
  await withSettings(`restricted_signup_domains = '{"<i>.example"}'`, async () => {
    const refused = await submit(fresh());
    t.is(refused.answer.status, 400);
    const told = 'is not whitelisted. Email domains valid for registration are: &lt;i&gt;.example';
    t.deepEqual(faultsOf(refused.answer.text), { email: told });
  });
});

test.serial('while the setting is off there is no such page, and no link to it', async (t) => {
  const browser = new Browser(holder.app.url);
  const page = await browser.get(path);
  t.true((await browser.get('/users/sign_in')).text.includes(`href="${path}"`));
  await withSettings('signup_enabled = false', async () => {
    const filled = fresh();
    for (const answer of [await browser.get(path), await browser.submit(page, filled)]) {
      t.is(answer.status, 404);
      t.regex(answer.text, /Registration is closed/);
    }
    t.is(await userNamed(filled.username), undefined);
    t.false((await browser.get('/users/sign_in')).text.includes(path));
  });
});

test.serial('a form of another page, or of another browser, makes nobody', async (t) => {
  const page = await new Browser(holder.app.url).get(path);
  for (const token of [formsOf(page.text)[0]?.fields.form_token ?? '', '']) {
    const browser = new Browser(holder.app.url);
    await browser.get(path);
    const filled = fresh({ form_token: token });
    t.is((await browser.send('POST', path, filled)).status, 403);
    t.is(await userNamed(filled.username), undefined);
  }
});

test.serial('one who comes with the request of a program goes on with it', async (t) => {
  const { app } = holder;
  const application = await makeApplication(app);
  const browser = new Browser(app.url);
  const start = askFor(application, { state: 'a&b' });
  const [, link = ''] = /href="(\/users\/sign_up[^"]*)"/.exec((await browser.get(start)).text) ?? [];
  const page = await browser.get(link.replaceAll('&amp;', '&'));
  t.true(page.headers.get('content-security-policy')?.endsWith(new URL(callback).origin));
  const [, back = ''] = /href="(\/oauth\/authorize[^"]*)"/.exec(page.text) ?? [];
  t.is(new URL(back.replaceAll('&amp;', '&'), app.url).searchParams.get('state'), 'a&b');
  const refused = await browser.submit(page, fresh({ email: 'x' }));
  const answer = await browser.submit(refused, fresh());
  t.is(answer.status, 303);
  const consent = await browser.get(answer.location ?? '');
  t.regex(consent.text, /Allow access\?/);
  const allowed = await browser.submit(consent);
  t.is(new URL(allowed.location ?? '').searchParams.get('state'), 'a&b');
});

test.serial('one who has signed in already is not asked to register', async (t) => {
  const { browser } = await submit(fresh());
  const answer = await browser.get(path);
  t.is(answer.status, 303);
  t.is(answer.location, '/users/sign_in');
});

test.serial('as many at once make one user of one name', async (t) => {
  const filled = fresh();
  const answers = await Promise.all(
    [1, 2, 3].map((n) => submit({ ...filled, email: `several${n}@example.com` })),
  );
  t.deepEqual(answers.map(({ answer }) => answer.status).sort(), [303, 400, 400]);
});

test.serial('one address may try as often in a minute as to sign in, also where it is right', async (t) => {
  const { app } = holder;
  const server = createHttpServer();
  server.on('request', createApp({ ...app.services, signInsPerMinute: 3 }).callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const browser = new Browser(`http://127.0.0.1:${port}`);
  const page = await browser.get(path);
  t.is((await browser.submit(page, fresh({ email: 'x' }))).status, 400);
  t.is((await browser.submit(page, fresh())).status, 303);
  t.is((await browser.submit(page, fresh())).status, 303);
  const filled = fresh();
  const refused = await browser.submit(page, filled);
  t.is(refused.status, 429);
  t.truthy(refused.headers.get('retry-after'));
  t.is(await userNamed(filled.username), undefined);
});
