import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { admin, emailSignIn } from '../../lib/index.js';
import { ada, password } from '../support/app.js';
import { beforeChange } from '../support/changes.js';
import { rows } from '../support/database.js';
import type { PageBrowser, Shown } from '../support/page-browser.js';
import {
  createPerson,
  type PagesApp,
  pathOf,
  rowsOfAllTables,
  signInOn,
  startPagesApp,
} from '../support/pages-app.js';

const plugins = [
  password({ sendVerificationOnSignUp: true, signInOnSignUp: true }),
  emailSignIn(),
  admin({ adminEmails: ['root@example.com'] }),
] as const;
const EVIL = '<img src=x onerror=alert(1)>"\'';

let app: PagesApp<typeof plugins>;
beforeAll(async () => {
  app = await startPagesApp(plugins);
});
afterAll(() => app.stop());

const HEADERS: readonly Record<string, string>[] = [
  {},
  { 'sec-purpose': 'prefetch' },
  { 'user-agent': 'scanner' },
];

interface Link {
  readonly url: string;
  readonly email: string;
  /** The browser in which the link works. */
  readonly browser: PageBrowser;
}

let people = 0;
const newPerson = () => ({ email: `person-${people++}@example.com`, password: ada.password });

const json = { 'content-type': 'application/json' };

/** Each kind of link: how it comes about, and its form with what is typed. */
const LINKS: Record<string, { make(): Promise<Link>; form: string; fields?: Record<string, string> }> = {
  'verify-email': {
    form: 'confirm',
    async make() {
      const person = newPerson();
      const browser = app.open();
      const page = await browser.open('/auth/sign-up');
      const { url } = await app.mailOf(person.email, 'verify-email', () =>
        browser.submit(page, 'password', person),
      );
      return { url, email: person.email, browser };
    },
  },
  'reset-password': {
    form: 'set',
    fields: { new_password: 'a difference engine' },
    async make() {
      const { email } = newPerson();
      await createPerson(app as never, { email, password: ada.password });
      const browser = app.open();
      const page = await browser.open('/auth/forgot-password');
      const { url } = await app.mailOf(email, 'reset-password', () =>
        browser.submit(page, 'send', { email }),
      );
      return { url, email, browser };
    },
  },
  invitation: {
    form: 'set',
    fields: { new_password: 'a difference engine' },
    async make() {
      const { email } = newPerson();
      const { url } = await app.mailOf(email, 'invitation', () =>
        app.auth.admin.createUser({ email } as never),
      );
      return { url, email, browser: app.open() };
    },
  },
  'change-email': {
    form: 'confirm',
    async make() {
      const person = newPerson();
      await createPerson(app as never, person);
      const browser = app.open();
      await signInOn(browser, person);
      const body = JSON.stringify({ new_email: `new-${person.email}` });
      const { url } = await app.mailOf(`new-${person.email}`, 'verify-new-email', () =>
        browser.send('POST', '/auth/email-changes', body, json),
      );
      return { url, email: person.email, browser };
    },
  },
  'undo-change': {
    form: 'confirm',
    fields: { password: ada.password },
    async make() {
      const person = newPerson();
      const id = await createPerson(app as never, person);
      const browser = app.open();
      await signInOn(browser, person);
      return {
        url: `/auth/undo-change?token=${await beforeChange(app.auth, id)}`,
        email: person.email,
        browser,
      };
    },
  },
  'sign-in/email': {
    form: 'confirm',
    async make() {
      const person = newPerson();
      await createPerson(app as never, person);
      const browser = app.open();
      const page = await browser.open('/auth/sign-in');
      const { url } = await app.mailOf(person.email, 'sign-in-code', () =>
        browser.submit(page, 'send-code', { credential: person.email }),
      );
      return { url, email: person.email, browser };
    },
  },
};

const contents = () => rowsOfAllTables(app.auth, app.database);

describe.each(Object.entries(LINKS))('the link to %s', (name, { make, form, fields = {} }) => {
  test('leads to its page', async () => {
    expect((await make()).url).toMatch(new RegExp(`/auth/${name}\\?token=[\\w-]+$`));
  });

  test('is changed by no GET and no HEAD, and works afterwards', async () => {
    const { url, browser } = await make();
    const before = await contents();
    const mails = app.mails.length;
    // A scanner of emails, and the browser, which also fetches in advance.
    for (const visitor of [app.open(), browser])
      for (const headers of HEADERS) {
        for (let time = 0; time < 2; time++)
          expect((await visitor.open(pathOf(url), headers)).status).toBe(200);
        expect((await visitor.send('HEAD', pathOf(url), null, headers)).status).toBe(200);
      }
    expect(await contents()).toEqual(before);
    expect(app.mails.length).toBe(mails);
    const done = await browser.submit(await browser.open(pathOf(url)), form, fields);
    expect([done.status, done.error]).toEqual([303, null]);
  });

  test('has its token in the address until it is used, and in no cookie and no link', async () => {
    const { url, browser } = await make();
    const token = new URL(url, 'http://localhost').searchParams.get('token') ?? '';
    const page = await browser.open(pathOf(url));
    const visited: Shown[] = [page];
    const done = await browser.submit(page, form, fields);
    visited.push(done, await browser.follow(done));
    for (const shown of visited.slice(1)) expect(shown.body).not.toContain(token);
    for (const shown of visited) {
      expect(shown.cookies.join()).not.toContain(token);
      expect([...shown.links, ...shown.actions, shown.location ?? ''].join()).not.toContain(token);
    }
    expect(visited.at(-1)?.url).not.toContain('token');
  });

  test('is refused from another site, and works afterwards', async () => {
    const { url, browser } = await make();
    const page = await browser.open(pathOf(url));
    const filled = page.form(form).filled(fields);
    const refused = await browser.post(page.form(form).action, filled, {
      origin: 'https://evil.example',
      'sec-fetch-site': 'cross-site',
    });
    expect([refused.status, refused.actions]).toEqual([403, []]);
    expect((await browser.submit(page, form, fields)).status).toBe(303);
  });
});

test('a device that names itself with markup stays text', async () => {
  const person = newPerson();
  const id = await createPerson(app as never, person);
  const browser = app.open({ 'user-agent': `Mozilla/5.0 (${EVIL}) ${EVIL}/1.0` });
  await signInOn(browser, person);
  const url = `/auth/undo-change?token=${await beforeChange(app.auth, id)}`;
  await rows(app.database, 'UPDATE account_changes SET device = :device', { device: EVIL });
  const page = await browser.open(url);
  expect(page.text).toContain(EVIL);
  expect(page.all('img')).toEqual([]);
  expect([page.status, page.parseErrors]).toEqual([200, []]);
});

test.each(["o'brien+<x>@example.com", '"<b>x</b>"@example.com', "&amp;'x'@example.com"])(
  'the email %s stays text',
  async (email) => {
    const browser = app.open();
    const page = await browser.open('/auth/sign-up');
    const answer = await browser.submit(page, 'password', { email, password: ada.password });
    const shown = answer.location === null ? answer : await browser.open('/auth/sign-out');
    expect([shown.all('b'), shown.all('x')]).toEqual([[], []]);
    if (answer.location !== null) expect(shown.text).toContain(`You are signed in as ${email}.`);
    else expect(answer.form('password').value('email')).toBe(email);
  },
);
