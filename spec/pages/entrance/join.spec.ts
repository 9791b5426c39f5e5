import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { admin, emailSignIn, organizations, roles, twoFactor } from '../../../lib/index.js';
import { act } from '../../support/acting.js';
import { ada, password } from '../../support/app.js';
import { proveMailbox } from '../../support/email-proof.js';
import type { PageBrowser, Shown } from '../../support/page-browser.js';
import { isSignedIn, type PagesApp, signInOn, startPagesApp } from '../../support/pages-app.js';

const plugins = [
  password({ username: true }),
  emailSignIn({ signUp: true }),
  organizations(),
  admin({ adminEmails: ['root@example.com'], actAs: {} }),
] as const;
const NEW_PASSWORD = 'a bird in a teapot';
const JOIN = '/auth/join';
const config = {
  rateLimit: { signIn: false, signUp: false, mailAddress: false },
  user: { fields: { fullName: { type: 'string', required: true, maxLength: 40 } } },
} as const;

type App = PagesApp<typeof plugins>;
let app: App;
let people = 0;
let organizationId: string;
const others: App[] = [];
beforeAll(async () => {
  app = await startPagesApp(plugins, { config });
  organizationId = await acme(app);
});
afterEach(async () => {
  for (const other of others.splice(0)) await other.stop();
});
afterAll(() => app.stop());

/** Starts another app, which the test stops. */
async function started(...given: Parameters<typeof startPagesApp>): Promise<App> {
  const other = (await startPagesApp(...given)) as unknown as App;
  others.push(other);
  return other;
}

const fields = { fullName: 'Ada' };

async function acme({ auth }: App, own: object = { fields }): Promise<string> {
  const owner = await auth.users.create({ email: 'owner@example.com', emailVerified: true, ...own } as never);
  const made = await auth.organizations.create({ name: 'Acme & <b>', slug: 'acme', ownerId: owner.id });
  return made.id;
}

const newEmail = () => `person-${people++}@example.com`;
const newPerson = async (email = newEmail()) => {
  const { id } = await app.auth.users.create({
    email,
    password: ada.password,
    emailVerified: true,
    fields,
  } as never);
  await proveMailbox(app.auth, id);
  return { id, email, password: ada.password };
};

/** Invites an address, and returns the path of the link in the email. */
async function invited(
  email: string,
  { of = app, id = organizationId, role = 'member' }: { of?: App; id?: string; role?: string } = {},
): Promise<string> {
  const owner = await of.auth.users.find({ email: 'owner@example.com' });
  const mail = await of.mailOf(email, 'organization-invitation', () =>
    of.auth.organizations.invite(id, { email, role, invitedBy: owner!.id }),
  );
  const { pathname, search } = new URL(mail.url ?? '');
  return pathname + search;
}
const tokenIn = (link: string) => new URL(link, 'http://localhost').searchParams.get('token') ?? '';
const signedIn = async (person: { email: string; password: string }): Promise<PageBrowser> => {
  const browser = app.open();
  expect((await signInOn(browser, person)).location).toBe('/home');
  return browser;
};
const memberships = async (email: string, of = app) => {
  const user = await of.auth.users.find({ email });
  if (!user) return null;
  const found = await of.auth.organizations.ofUser(user.id);
  return found.organizations.map(({ slug, role }) => `${slug} ${role}`);
};
const formsOf = (shown: Shown) => shown.actions.map((action) => action.slice(JOIN.length + 1));

describe('the page of an invitation', () => {
  test('says who invites whom to what, and changes nothing', async () => {
    const email = newEmail();
    const link = await invited(email, { role: 'admin' });
    expect(link).toMatch(/^\/auth\/join\?token=lki_/);
    for (const visitor of [app.open(), app.open()]) {
      const page = await visitor.open(link);
      expect([page.status, page.heading, page.parseErrors]).toEqual([200, 'Join Acme & <b>', []]);
      expect(page.text).toContain('owner@example.com invites you to join Acme & <b>.');
      expect(page.text).toMatch(new RegExp(`Invited email${email}Your roleAdministratorValid until\\d+ `));
    }
    expect(await memberships(email)).toBeNull();
  });

  test('names no inviter if the app itself invites', async () => {
    const email = newEmail();
    const mail = await app.mailOf(email, 'organization-invitation', () =>
      app.auth.organizations.invite(organizationId, { email, role: 'member' }),
    );
    const { pathname, search } = new URL(mail.url ?? '');
    expect((await app.open().open(pathname + search)).text).toContain('You are invited to join Acme & <b>.');
  });

  test.each([
    ['a token that never existed', () => `${JOIN}?token=nonsense`],
    [
      'a replaced one',
      async () => {
        const email = newEmail();
        const link = await invited(email);
        await invited(email);
        return link;
      },
    ],
    [
      'a revoked one',
      async () => {
        const link = await invited(newEmail());
        const { invitations } = await app.auth.organizations.invitations(organizationId);
        await app.auth.organizations.revokeInvitation(organizationId, invitations[0]!.id);
        return link;
      },
    ],
  ])('with %s says kindly that it no longer works', async (_name, linkOf) => {
    const browser = app.open();
    const page = await browser.open(await linkOf());
    expect([page.status, page.heading]).toEqual([200, 'This invitation is no longer valid']);
    expect(page.text).toContain('ask the person who invited you for another one');
    expect(page.actions).toEqual([]);
    expect(browser.cookies.map(({ name }) => name)).not.toContain('latchkey-join');
  });

  test('without a token says that the link in the email leads here', async () => {
    const page = await app.open().open(JOIN);
    expect([page.status, page.heading]).toEqual([200, 'Open the link in the email']);
  });

  test('keeps the token out of all other addresses, and out of Referer', async () => {
    const link = await invited(newEmail());
    const browser = app.open();
    const page = await browser.open(link);
    expect(page.body).toContain('<meta name="referrer" content="strict-origin">');
    expect([...page.links, ...page.actions].filter((one) => one.includes('lki_'))).toEqual([]);
    expect(browser.cookies.filter(({ value }) => value.includes('lki_'))).toEqual([]);
    expect(page.cookies.find((one) => one.startsWith('latchkey-join='))).toMatch(/HttpOnly/);
  });

  test('does not exist without organizations', async () => {
    const other = await started([password()] as never);
    expect((await other.open().open(JOIN)).status).toBe(404);
  });
});

describe('a user who is signed in with the invited email', () => {
  test('joins with one button, and the link works once', async () => {
    const person = await newPerson();
    const browser = await signedIn(person);
    const link = await invited(person.email);
    const page = await browser.open(link);
    expect(formsOf(page)).toEqual(['accept']);
    expect(page.text).toContain('Join Acme & <b>');
    const joined = await browser.submit(page, 'accept');
    const of = `/auth/account/organizations/${organizationId}`;
    expect([joined.status, joined.location]).toEqual([303, `${of}?done=joined`]);
    expect((await browser.follow(joined)).text).toContain('You are now a member of Acme & <b>.');
    expect(await memberships(person.email)).toEqual(['acme member']);
    for (const again of [await browser.open(link), await browser.submit(page, 'accept')]) {
      expect([again.heading, again.error]).toEqual(['You are already a member of Acme & <b>', null]);
      expect(again.links).toContain(of);
    }
  });

  test.each(['another browser', 'another account in this browser', 'no account'])(
    'and the used link says nothing about the organization in %s',
    async (where) => {
      const person = await newPerson();
      const browser = await signedIn(person);
      const link = await invited(person.email);
      await browser.submit(await browser.open(link), 'accept');
      const other = where === 'another browser' ? await signedIn(await newPerson()) : browser;
      if (other === browser) await browser.submit(await browser.open('/auth/sign-out'), 'confirm');
      if (where === 'another account in this browser') await signInOn(browser, await newPerson());
      const page = await other.open(link);
      expect(page.heading).toBe('This invitation is no longer valid');
      expect(page.text).not.toContain('Acme');
    },
  );

  test('comes to the page of the organization, even if the app has set no page for after a sign-in', async () => {
    const other = await started(plugins as never, { config: config as never, pages: {} });
    const id = await acme(other);
    const email = 'grace@example.com';
    await other.auth.users.create({ email, password: ada.password, emailVerified: true, fields } as never);
    const browser = other.open();
    await signInOn(browser, { email, password: ada.password });
    const page = await browser.open(await invited(email, { of: other, id }));
    const joined = await browser.submit(page, 'accept');
    expect(joined.location).toBe(`/auth/account/organizations/${id}?done=joined`);
    expect((await browser.follow(joined)).text).toContain('You are now a member of Acme & <b>.');
  });

  test('does not lose what they returned to', async () => {
    const person = await newPerson();
    const browser = await signedIn(person);
    const token = tokenIn(await invited(person.email));
    const joined = await browser.post(`${JOIN}/accept`, { token, return_to: '/deep' });
    expect(joined.location).toBe('/deep');
  });

  test('completes an open task first, and comes back', async () => {
    const other = await started(
      [...plugins, twoFactor({ required: 'everybody' }), roles({ roles: {} })] as never,
      { config: config as never },
    );
    const id = await acme(other);
    const email = 'grace@example.com';
    const { id: userId } = await other.auth.users.create({ email, emailVerified: true, fields } as never);
    const browser = other.open({ cookie: `latchkey=${(await other.auth.createSession(userId)).token}` });
    const page = await browser.open(await invited(email, { of: other, id }));
    expect(page.actions).toEqual([]);
    expect(page.text).toContain('There is one more step before you can join.');
    expect(page.links).toContain('/auth/account/security?return_to=%2Fauth%2Fjoin');
  });
});

test('a user who is signed in with another email signs out, and continues as the invited one', async () => {
  const [person, other] = [await newPerson(), await newPerson()];
  const browser = await signedIn(other);
  const page = await browser.open(await invited(person.email));
  expect(formsOf(page)).toEqual(['sign-out']);
  expect(page.text).toContain(
    `The invitation is for ${person.email}, but you are signed in as ${other.email}.`,
  );
  const signedOut = await browser.submit(page, 'sign-out');
  expect(signedOut.location).toBe(`${JOIN}?done=signed-out`);
  const next = await browser.follow(signedOut);
  expect(await isSignedIn(browser)).toBe(false);
  expect(next.text).toContain('You are signed out.');
  expect(next.text).toContain(`${person.email} has an account.`);
  expect(await memberships(other.email)).toEqual([]);
});

test('another email is refused if the user changes in another tab', async () => {
  const [person, other] = [await newPerson(), await newPerson()];
  const page = await (await signedIn(person)).open(await invited(person.email));
  const answer = await (await signedIn(other)).submit(page, 'accept');
  expect([answer.status, answer.error]).toEqual([
    403,
    expect.stringContaining('This invitation is for another email.'),
  ]);
  expect(formsOf(answer)).toEqual(['sign-out']);
});

describe('a user who is not signed in', () => {
  test('signs in to the account of the email, which is filled in, and comes back', async () => {
    const person = await newPerson();
    const browser = app.open();
    const page = await browser.open(await invited(person.email));
    expect(page.actions).toEqual([]);
    const to = '/auth/sign-in?return_to=%2Fauth%2Fjoin';
    expect(page.links).toContain(to);
    const signIn = await browser.open(to);
    expect(signIn.form('password').value('credential')).toBe(person.email);
    const done = await browser.submit(signIn, 'password', { password: person.password });
    expect(done.location).toBe(JOIN);
    await browser.submit(await browser.follow(done), 'accept');
    expect(await memberships(person.email)).toEqual(['acme member']);
  });

  test('comes back after an emailed code too', async () => {
    const person = await newPerson();
    const browser = app.open();
    await browser.open(await invited(person.email));
    const signIn = await browser.open('/auth/sign-in?return_to=%2Fauth%2Fjoin');
    let sent: Shown | undefined;
    const mail = await app.mailOf(person.email, 'sign-in-code', async () => {
      sent = await browser.submit(signIn, 'send-code');
    });
    const done = await browser.submit(await browser.follow(sent!), 'confirm', { code: mail.code ?? '' });
    expect(done.location).toBe(JOIN);
    expect(formsOf(await browser.follow(done))).toEqual(['accept']);
  });

  test('creates the account of the email, joins, and is signed in', async () => {
    const email = newEmail();
    const browser = app.open();
    const page = await browser.open(await invited(email, { role: 'admin' }));
    expect(formsOf(page)).toEqual(['sign-up', 'send-code']);
    expect(page.form('sign-up').names).toEqual(['token', 'username', 'password', 'full_name']);
    const weak = await browser.submit(page, 'sign-up', {
      username: 'grace',
      password: 'password1',
      full_name: 'Grace',
    });
    expect([weak.status, weak.fieldErrors]).toEqual([
      422,
      ['This password is easy to guess. Choose another.'],
    ]);
    expect(['username', 'full_name', 'password'].map((name) => weak.form('sign-up').value(name))).toEqual([
      'grace',
      'Grace',
      '',
    ]);
    expect(await memberships(email)).toBeNull();
    const joined = await browser.submit(weak, 'sign-up', { password: NEW_PASSWORD });
    expect([joined.status, joined.location]).toEqual([
      303,
      `/auth/account/organizations/${organizationId}?done=joined`,
    ]);
    expect(await isSignedIn(browser)).toBe(true);
    expect(await memberships(email)).toEqual(['acme admin']);
  });

  test('emails a code instead of choosing a password, and joins with the new account', async () => {
    const email = newEmail();
    const browser = app.open();
    const page = await browser.open(await invited(email));
    let sent: Shown | undefined;
    const mail = await app.mailOf(email, 'sign-in-code', async () => {
      sent = await browser.submit(page, 'send-code');
    });
    expect(sent?.location).toBe('/auth/sign-in/email?return_to=%2Fauth%2Fjoin');
    const code = await browser.follow(sent!);
    expect(code.text).toContain('After this, you can join Acme & <b>.');
    const asked = await browser.submit(code, 'confirm', { code: mail.code ?? '' });
    const done = await browser.submit(asked, 'confirm', { full_name: 'Grace' });
    expect(done.location).toBe(JOIN);
    const joined = await browser.submit(await browser.follow(done), 'accept');
    expect(joined.status).toBe(303);
    expect(await memberships(email)).toEqual(['acme member']);
  });

  test('sees the name of the organization only after opening the invitation', async () => {
    const page = await app.open().open('/auth/sign-in?return_to=%2Fauth%2Fjoin');
    expect(page.text).not.toContain('you can join');
  });

  test('reads beside the field that a username is taken', async () => {
    await app.auth.users.create({ username: 'taken', password: ada.password, fields } as never);
    const browser = app.open();
    const page = await browser.open(await invited(newEmail()));
    const answer = await browser.submit(page, 'sign-up', {
      username: 'taken',
      password: NEW_PASSWORD,
      full_name: 'G',
    });
    expect([answer.status, answer.fieldErrors]).toEqual([409, ['This username is taken. Choose another.']]);
    expect(answer.form('sign-up').attribute('username', 'aria-invalid')).toBe('true');
  });

  test('is led to the sign-in if the email has got an account meanwhile', async () => {
    const email = newEmail();
    const browser = app.open();
    const page = await browser.open(await invited(email));
    await newPerson(email);
    const answer = await browser.submit(page, 'sign-up', { password: NEW_PASSWORD, full_name: 'G' });
    expect([answer.status, answer.error]).toEqual([
      409,
      expect.stringContaining('This email has an account. Sign in to it, then join.'),
    ]);
    expect(answer.links).toContain('/auth/sign-in?return_to=%2Fauth%2Fjoin');
  });

  test('asks the people who run the app if no account can be created', async () => {
    const closed = { ...config, signUp: 'closed' as const };
    const other = await started([password(), organizations()] as never, {
      config: closed as never,
      pages: { links: { support: 'mailto:help@example.com' } },
    });
    const page = await other.open().open(await invited(newEmail(), { of: other, id: await acme(other) }));
    expect(page.actions).toEqual([]);
    expect(page.text).toContain('you cannot create one here');
    expect(page.links).toContain('mailto:help@example.com');
  });

  test('creates an account by invitation alone, even if the sign-up is closed', async () => {
    const closed = { ...config, signUp: 'closed' as const };
    const other = await started([password(), organizations({ signUp: true })] as never, {
      config: closed as never,
    });
    const email = newEmail();
    const browser = other.open();
    const page = await browser.open(await invited(email, { of: other, id: await acme(other) }));
    const joined = await browser.submit(page, 'sign-up', { password: NEW_PASSWORD, full_name: 'G' });
    expect(joined.status).toBe(303);
    expect(await memberships(email, other)).toEqual(['acme member']);
  });

  test('creates the account with an emailed code where there are no passwords', async () => {
    const other = await started([emailSignIn({ signUp: true }), organizations({ signUp: true })] as never, {
      config: { ...config, signUp: 'closed', user: {} } as never,
    });
    const email = newEmail();
    const browser = other.open();
    const page = await browser.open(await invited(email, { of: other, id: await acme(other, {}) }));
    expect(formsOf(page)).toEqual(['send-code']);
    expect(page.text).toContain(`${email} has no account yet. Continue to create one`);
    let sent: Shown | undefined;
    const mail = await other.mailOf(email, 'sign-in-code', async () => {
      sent = await browser.submit(page, 'send-code');
    });
    const code = await browser.follow(sent!);
    expect(code.text).toContain(`We have emailed a code of 8 digits to ${email}.`);
    expect(code.text).toContain('After this, you can join Acme & <b>.');
    const done = await browser.submit(code, 'confirm', { code: mail.code ?? '' });
    expect(done.location).toBe(JOIN);
    await browser.submit(await browser.follow(done), 'accept');
    expect(await memberships(email, other)).toEqual(['acme member']);
  });

  test('is led to the sign-up if only invitations create no accounts', async () => {
    const other = await started([password(), organizations({ signUp: false })] as never, {
      config: config as never,
    });
    const email = newEmail();
    const browser = other.open();
    const page = await browser.open(await invited(email, { of: other, id: await acme(other) }));
    expect(page.actions).toEqual([]);
    expect(page.links).toContain('/auth/sign-up?return_to=%2Fauth%2Fjoin');
    const signUp = await browser.open('/auth/sign-up?return_to=%2Fauth%2Fjoin');
    expect(signUp.form('password').value('email')).toBe(email);
  });

  test('is one who acts as the invited user', async () => {
    const person = await newPerson();
    const root = await app.auth.users.create({
      email: 'root@example.com',
      emailVerified: true,
      fields,
    } as never);
    const own = `latchkey=${(await app.auth.createSession(root.id)).token}`;
    const answer = await act(app as never, own, person.id).expect(200);
    const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? '';
    const page = await app.open({ cookie }).open(await invited(person.email));
    expect(page.actions).toEqual([]);
    expect(page.text).toContain(`${person.email} has an account.`);
    const refused = await app.open({ cookie }).open('/auth/account/organizations');
    expect(refused.status).toBe(403);
    expect(await memberships(person.email)).toEqual([]);
  });
});

test('the page is the only one before a sign-in that users return to', async () => {
  const person = await newPerson();
  for (const [wanted, location] of [
    [JOIN, JOIN],
    [`${JOIN}/accept`, '/home'],
    ['/auth/invitation', '/home'],
    ['/auth/sign-up', '/home'],
  ] as const) {
    const browser = app.open();
    const page = await browser.open(`/auth/sign-in?${new URLSearchParams({ return_to: wanted })}`);
    const done = await browser.submit(page, 'password', {
      credential: person.email,
      password: person.password,
    });
    expect([wanted, done.location]).toEqual([wanted, location]);
  }
});
