import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  ageSessions,
  expectEscaped,
  formIn,
  formsIn,
  HOSTILE,
  PageVisitor,
  startPages,
} from '../../support/account-pages.js';
import { ada, password } from '../../support/app.js';
import { rows } from '../../support/database.js';

const fields = {
  name: { type: 'string', maxLength: 80 },
  city: { type: 'string', required: true },
  newsletter: { type: 'boolean', default: true },
  color: { type: 'string', enum: ['red', HOSTILE] },
  weight: { type: 'number' },
  wakesAt: { type: 'date' },
  referral: { type: 'string', output: 'admin' },
  notes: { type: 'string', input: 'none' },
} as const;
const start = (more = {}) =>
  startPages([password({ username: true })], { user: { fields }, ...more } as never);
const values = { name: 'Ada', city: 'London', referral: 'a friend', weight: 61.5 };

let app: Awaited<ReturnType<typeof start>>['app'];
let box: Awaited<ReturnType<typeof start>>['box'];
let visitor: PageVisitor;
let id: string;
beforeAll(async () => {
  ({ app, box } = await start());
});
afterAll(() => app.stop());
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  const made = await app.auth.credential.signUp({ ...ada, username: 'Ada', fields: values as never });
  id = made?.user.id as string;
  visitor = await new PageVisitor(app.origin).signIn();
});

const open = () => visitor.get('/auth/account');
/** Confirms on the page that a press has led to, and opens the page that it leads back to. */
const confirm = async (pressed: Parameters<PageVisitor['follow']>[0]) =>
  visitor.follow(await visitor.submit(await visitor.follow(pressed), '/confirm', { password: ada.password }));
const user = async () => (await app.auth.users.get(id)) as unknown as Record<string, unknown>;

describe('the page', () => {
  test('leads to the sign-in without a session, and back', async () => {
    const stranger = new PageVisitor(app.origin);
    const answer = await stranger.get('/auth/account');
    expect(answer).toMatchObject({ status: 303, location: '/auth/sign-in?return_to=%2Fauth%2Faccount' });
    const sent = { credential: ada.email, password: ada.password, return_to: '/auth/account' };
    expect(await stranger.post('/auth/sign-in/password', sent)).toMatchObject({ location: '/auth/account' });
  });

  test('a question is dismissed by a word that says so, and does not repeat the heading of its card', async () => {
    const { body } = await open();
    const card =
      /<section data-part="card">(?:(?!<section).)*Delete my account.*?<\/section>/s.exec(body)?.[0] ?? '';
    expect(card).toContain(
      '<span data-part="closes">Cancel<span data-part="unseen">: delete my account</span></span>',
    );
    expect(card.match(/<h2>/g)).toHaveLength(1);
  });

  test('an email breaks after its signs, and the text to type not at all', async () => {
    const { body } = await open();
    expect(body).toContain('<p>ada@<wbr>example.<wbr>com <span');
    expect(body).toContain('To confirm, type <strong>ada@example.com</strong></label>');
  });

  test('the rules of a username are said before one is typed', async () => {
    const { body } = await open();
    const hint =
      'id="account-username-username-hint">3 to 30 characters: letters a to z, digits, underscores,';
    expect(body).toContain(hint);
  });

  test('the button of the first form says what it saves', async () => {
    expect(formIn((await open()).body, '/profile').button).toBe('Save your details');
  });

  test('leads on to the page that a new user was on the way to, even after the form', async () => {
    const page = await visitor.get('/auth/account?return_to=%2Fdeep');
    expect(page.body).toContain('<a href="/deep" data-part="button secondary">Continue</a>');
    const saved = await visitor.submit(page, '/profile', { city: 'Paris' });
    expect(saved.location).toBe('/auth/account?done=details-saved&return_to=%2Fdeep');
    expect((await visitor.follow(saved)).body).toContain('<a href="/deep" data-part="button secondary">');
  });

  test('marks one link of the navigation', async () => {
    const current = ({ body }: { body: string }) =>
      [...body.matchAll(/<a href="([^"]*)" aria-current="page">/g)].map(([, href]) => href);
    expect(current(await open())).toEqual(['/auth/account']);
    expect(current(await visitor.get('/auth/account/sessions'))).toEqual(['/auth/account/sessions']);
  });

  test('has no two buttons with the same name', async () => {
    const names = formsIn((await open()).body).map(({ button }) => button);
    expect(names).toHaveLength(6);
    expect(new Set(names).size).toBe(6);
  });

  test('has no form for what the app has disabled', async () => {
    const other = await start({
      account: { update: false, changeEmail: false, delete: false, export: false },
    });
    try {
      await other.app.auth.credential.signUp({ ...ada, fields: values as never });
      const { body } = await (await new PageVisitor(other.app.origin).signIn()).get('/auth/account');
      expect(formsIn(body).map(({ action }) => action)).toEqual(['/auth/account/verify-email']);
    } finally {
      await other.app.stop();
    }
  });
});

describe('the form of the own fields', () => {
  test('shows the present values, and only what the user can see and set', async () => {
    await app.auth.users.update(id, { fields: { wakesAt: new Date('2026-01-31T06:30:15Z') } });
    expect(formIn((await open()).body, '/profile').fields).toEqual({
      name: 'Ada',
      city: 'London',
      newsletter: 'true',
      checkboxes: 'newsletter',
      color: '',
      weight: '61.5',
      wakes_at: '2026-01-31T06:30:15.000',
    });
  });

  test('changes nothing if it is sent as it is shown', async () => {
    await app.auth.users.update(id, { fields: { wakesAt: new Date('2026-01-31T06:30:15Z') } });
    const { updatedAt: _, ...before } = await user();
    const done = await visitor.submit(await open(), '/profile');
    expect(done).toMatchObject({ status: 303, location: '/auth/account?done=details-saved' });
    expect(await user()).toMatchObject(before);
    expect((await visitor.follow(done)).body).toContain('Your details are saved.');
    const named = await visitor.submit(await open(), '/username', { username: 'countess' });
    expect((await visitor.follow(named)).body).toContain('Your username is saved.');
  });

  test('sends a false, and clears what was emptied', async () => {
    await visitor.submit(await open(), '/profile', {
      name: '',
      newsletter: undefined,
      weight: '',
      city: 'Turin',
    });
    expect(await user()).toMatchObject({
      name: null,
      newsletter: false,
      weight: null,
      city: 'Turin',
      referral: 'a friend',
    });
    const { fields } = formIn((await open()).body, '/profile');
    expect(fields).toMatchObject({ name: '' });
    expect(fields).not.toHaveProperty('newsletter');
    await visitor.submit(await open(), '/profile', { newsletter: 'true' });
    expect(await user()).toMatchObject({ newsletter: true });
  });

  test('keeps a checkbox that was unchecked if another field is rejected', async () => {
    const refused = await visitor.submit(await open(), '/profile', {
      newsletter: undefined,
      name: 'x'.repeat(300),
    });
    expect(refused.status).toBe(422);
    expect(formIn(refused.body, '/profile').fields).not.toHaveProperty('newsletter');
    expect(await user()).toMatchObject({ newsletter: true });
  });

  test('keeps what was typed if it is refused', async () => {
    const refused = await visitor.submit(await open(), '/profile', { name: 'x'.repeat(81), city: 'Turin' });
    expect(refused.status).toBe(422);
    expect(refused.body).toContain('aria-invalid="true"');
    expect(formIn(refused.body, '/profile').fields).toMatchObject({ name: 'x'.repeat(81), city: 'Turin' });
    expect(await user()).toMatchObject({ name: 'Ada', city: 'London' });
  });

  test('escapes its values', async () => {
    const typed = { name: HOSTILE, color: HOSTILE };
    await visitor.submit(await open(), '/profile', typed);
    const page = await open();
    expectEscaped(page);
    expect(formIn(page.body, '/profile').fields).toMatchObject(typed);
    const refused = await visitor.submit(page, '/profile', { name: HOSTILE.repeat(9) });
    expect(refused.status).toBe(422);
    expectEscaped(refused);
  });

  test('is refused from another site', async () => {
    const body = new URLSearchParams({ name: 'Eve' });
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const answer = await visitor.send('POST', '/auth/account/profile', body, headers);
    expect(answer.status).toBe(403);
    expect(await user()).toMatchObject({ name: 'Ada' });
  });
});

test('the form of the own fields says which can stay empty, and the time zone of times', async () => {
  const { body } = await open();
  const labels = [...body.matchAll(/<label for="account-profile-\w+">(.*?)<\/label>/g)].map(([, one]) => one);
  const optional = '<small>(optional)</small>';
  expect(labels).toEqual([
    `Name ${optional}`,
    'City',
    'Newsletter',
    `Color ${optional}`,
    `Weight ${optional}`,
    `Wakes at (UTC) ${optional}`,
  ]);
});

describe('the form of the username', () => {
  test('changes it after a recent sign-in', async () => {
    const page = await open();
    expect(formIn(page.body, '/username').fields).toEqual({ username: 'Ada' });
    await visitor.submit(page, '/username', { username: 'Countess' });
    expect(await user()).toMatchObject({ username: 'countess', usernameDisplay: 'Countess' });
  });

  test('asks who it is later, at the press', async () => {
    await ageSessions(app);
    const pressed = await visitor.submit(await open(), '/username', { username: 'Countess' });
    expect(pressed.location).toBe('/auth/reauthenticate?return_to=%2Fauth%2Faccount');
    const back = await confirm(pressed);
    expect(formIn(back.body, '/username').fields).toEqual({ username: 'Countess' });
    expect(await user()).toMatchObject({ username: 'ada' });
    expect((await visitor.submit(back, '/username')).status).toBe(303);
    expect(await user()).toMatchObject({ username: 'countess' });
  });

  test('accepts the password of a form of the app, and never shows it again', async () => {
    await ageSessions(app);
    const wrong = { username: 'Countess', password: 'not her password' };
    const refused = await visitor.post('/auth/account/username', wrong);
    expect(refused.status).toBe(401);
    expect(refused.body).toContain('This is not your current password.');
    expect(refused.body).not.toContain('not her password');
    expect(formIn(refused.body, '/username').fields).toEqual({ username: 'Countess' });
    const right = { ...wrong, password: ada.password };
    expect((await visitor.post('/auth/account/username', right)).status).toBe(303);
    expect(await user()).toMatchObject({ username: 'countess' });
  });

  test('is refused for a username that another account has', async () => {
    const eve = { email: 'eve@example.com', password: ada.password, username: 'eve' };
    await app.auth.credential.signUp({ ...eve, fields: values as never });
    const emptied = await visitor.submit(await open(), '/username', { username: '' });
    expect(emptied.status).toBe(422);
    expect(emptied.body).toContain('Enter a username.');
    const refused = await visitor.submit(await open(), '/username', { username: 'Eve' });
    expect(refused.status).toBe(409);
    expect(formIn(refused.body, '/username').fields.username).toBe('Eve');
  });
});

describe('the email', () => {
  test('can be verified, as long as it is not', async () => {
    const page = await open();
    expect(page.body).toContain('<span data-part="tag" data-state="warn">not confirmed</span>');
    const mail = await box.mailOf(ada.email, 'verify-email', async () => {
      const done = await visitor.submit(page, '/verify-email');
      expect(done.location).toBe('/auth/account?done=sent');
      const sent = await visitor.follow(done);
      expect(sent.body).toContain(`Open the link that we have emailed to <strong>${ada.email}</strong>.`);
      expect(formIn(sent.body, '/verify-email').button).toBe('Email me a new link');
    });
    expect(mail.url).toContain('/auth/verify-email?token=');
    await app.auth.markEmailVerified(id);
    const { body } = await open();
    expect(body).not.toContain('/auth/account/verify-email');
    expect(body).toContain('<span data-part="tag" data-state="good">confirmed</span>');
  });

  test('is changed by a link to the new address', async () => {
    const page = await open();
    const mail = await box.mailOf('new@example.com', 'verify-new-email', async () => {
      const done = await visitor.submit(page, '/email', { new_email: 'new@example.com' });
      expect(done.location).toBe('/auth/account?done=email-change-sent');
      const { body } = await visitor.follow(done);
      // One message says what was done. The card only shows the address.
      expect(body.match(/We email a link|emailed a link|email with a link/gi)).toEqual(['email with a link']);
      expect(body).toContain('Waiting for you to open the link at <strong>new@example.com</strong>.');
      expect(body).toMatch(
        /<input type="hidden" name="new_email" value="new@example.com">\s*<button[^>]*>Email it again/,
      );
    });
    expect(mail.url).toContain('/auth/change-email?token=');
    expect((await user()).email).toBe(ada.email);
  });

  test('waits for the link until the change is canceled, in every browser of the account', async () => {
    const mail = await box.mailOf('new@example.com', 'verify-new-email', async () => {
      await visitor.submit(await open(), '/email', { new_email: 'new@example.com' });
    });
    const other = await new PageVisitor(app.origin).signIn();
    const page = await other.get('/auth/account');
    expect(page.body).toContain('Waiting for you to open the link at <strong>new@example.com</strong>.');
    const done = await other.submit(page, '/cancel-email');
    expect(done.location).toBe('/auth/account?done=email-change-canceled');
    const { body } = await other.follow(done);
    expect(body).toContain('The change of your email was canceled.');
    for (const shown of [body, (await open()).body]) {
      expect(shown).not.toContain('new@example.com');
      expect(shown).not.toContain('/cancel-email');
    }
    const { pathname, search } = new URL(`${mail.url}`);
    const link = await other.get(pathname + search);
    expect(link.body).toContain('This link is no longer valid');
    expect(link.body).toContain('was canceled');
  });

  test('is not changed to the same email', async () => {
    const same = await visitor.submit(await open(), '/email', { new_email: ` ${ada.email.toUpperCase()} ` });
    expect(same.status).toBe(422);
    expect(same.body).toContain('This is already your email.');
    expect(same.body).toMatch(/name="new_email"[^>]* aria-invalid="true"/);
    expect(await rows(app.database, 'SELECT * FROM one_time_tokens')).toEqual([]);
  });

  test('keeps what was typed if the change is refused', async () => {
    const refused = await visitor.submit(await open(), '/email', { new_email: HOSTILE });
    expect(refused.status).toBe(422);
    expectEscaped(refused);
    expect(formIn(refused.body, '/email').fields.new_email).toBe(HOSTILE);
    await ageSessions(app);
    const back = await confirm(await visitor.submit(await open(), '/email', { new_email: HOSTILE }));
    expectEscaped(back);
    expect(formIn(back.body, '/email').fields.new_email).toBe(HOSTILE);
    expect(await rows(app.database, 'SELECT * FROM one_time_tokens')).toEqual([]);
  });
});

describe('the download', () => {
  test('sends the data as a file', async () => {
    const { status, type, body } = await visitor.submit(await open(), '/download');
    expect([status, type]).toEqual([200, 'application/json; charset=utf-8']);
    expect(JSON.parse(body).user).toMatchObject({ id, email: ada.email, city: 'London' });
    expect(body).not.toContain('a friend');
  });

  test('asks who it is later, at the press', async () => {
    await ageSessions(app);
    const back = await confirm(await visitor.submit(await open(), '/download'));
    expect(back.body).toMatch(/data-downloads data-resumes/);
    const done = await visitor.submit(back, '/download');
    expect([done.status, JSON.parse(done.body).user.id]).toEqual([200, id]);
  });

  test('says how long a user has to wait for the next one', async () => {
    const other = await start({ rateLimit: { dataExport: { limit: 1, window: 86_400 } } });
    try {
      await other.app.auth.credential.signUp({ ...ada, username: 'ada', fields: values as never });
      const one = await new PageVisitor(other.app.origin).signIn();
      expect((await one.submit(await one.get('/auth/account'), '/download')).status).toBe(200);
      const refused = await one.submit(await one.get('/auth/account'), '/download');
      expect(refused.status).toBe(429);
      expect(refused.body).toMatch(/role="alert".*24 hours/s);
    } finally {
      await other.app.stop();
    }
  });
});

describe('the deletion', () => {
  const isOpen = ({ body }: { body: string }) => /<details open>.*\/auth\/account\/delete/s.test(body);

  test('takes two steps, and leads to the sign-in', async () => {
    const page = await open();
    expect(isOpen(page)).toBe(false);
    expect(page.body).toContain('This cannot be undone.');
    const done = await visitor.submit(page, '/delete', { confirmation: ` ${ada.email.toUpperCase()} ` });
    expect(done.location).toBe('/auth/sign-in?done=account-deleted');
    const { body } = await visitor.follow(done);
    expect(body).toContain('Your account was deleted.');
    expect(body).not.toContain('<nav');
    expect(await rows(app.database, 'SELECT id FROM users')).toEqual([]);
  });

  test('asks who it is later, and is open when the user comes back', async () => {
    await ageSessions(app);
    const back = await confirm(await visitor.submit(await open(), '/delete', { confirmation: ada.email }));
    expect(isOpen(back)).toBe(true);
    expect(formIn(back.body, '/delete').fields).toEqual({ confirmation: ada.email });
    expect(await rows(app.database, 'SELECT id FROM users')).toHaveLength(1);
    const done = await visitor.submit(back, '/delete');
    expect(done.status).toBe(303);
    expect(await rows(app.database, 'SELECT id FROM users')).toEqual([]);
  });

  test.each([
    ['nothing', ''],
    ['the username', 'Ada'],
    ['the email of another account', 'eve@example.com'],
  ])('is refused for %s in place of the email', async (_what, confirmation) => {
    const refused = await visitor.submit(await open(), '/delete', { confirmation });
    expect(refused.status).toBe(422);
    expect(isOpen(refused)).toBe(true);
    expect(refused.body).toContain(
      confirmation === ''
        ? 'Type it to confirm. Nothing was deleted.'
        : 'This does not match. Nothing was deleted.',
    );
    expect(refused.body).toMatch(/name="confirmation"[^>]* autofocus[^>]* aria-invalid="true"/);
    expect(formIn(refused.body, '/delete').fields).toEqual({ confirmation });
    expect(await rows(app.database, 'SELECT id FROM users')).toHaveLength(1);
  });

  test.each([
    ['the username', { username: 'Grace' }, 'grace'],
    ['a word', { email: 'none@example.com' }, 'Delete'],
  ])('asks for %s, if the account has no email', async (_what, made, confirmation) => {
    const { id: other } = await app.auth.users.create({ ...made, fields: values } as never);
    await rows(app.database, 'UPDATE users SET email = NULL WHERE id = ?', [other] as never);
    const { token } = await app.auth.createSession(other);
    const one = new PageVisitor(app.origin, { cookie: `latchkey=${token}` });
    const page = await one.get('/auth/account');
    expect((await one.submit(page, '/delete', { confirmation: 'ada@example.com' })).status).toBe(422);
    const done = await one.submit(page, '/delete', { confirmation });
    expect(done.location).toBe('/auth/sign-in?done=account-deleted');
    expect(await app.auth.users.get(other)).toBeNull();
  });

  test('is refused from another site, whatever was typed', async () => {
    const body = new URLSearchParams({ confirmation: ada.email });
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    for (const given of [body, new URLSearchParams()])
      expect((await visitor.send('POST', '/auth/account/delete', given, headers)).status).toBe(403);
    expect(await rows(app.database, 'SELECT id FROM users')).toHaveLength(1);
  });

  test('by a program needs no typing', async () => {
    const { token } = await app.auth.createSession(id);
    await app.http
      .delete('/auth/me')
      .set('Cookie', `latchkey=${token}`)
      .set('Sec-Fetch-Site', 'same-origin')
      .expect(204);
    expect(await rows(app.database, 'SELECT id FROM users')).toEqual([]);
  });

  test('says how long the account is kept, and is possible while a task is open', async () => {
    const tasks = { terms: { open: () => true, page: '/terms' } };
    const other = await start({ accountDeletion: { graceDays: 30 }, tasks });
    try {
      await other.app.auth.credential.signUp({ ...ada, username: 'ada', fields: values as never });
      const held = await new PageVisitor(other.app.origin).signIn();
      const page = await held.get('/auth/account');
      expect(page.body).toContain('After 30 days, it will be permanently deleted');
      expect(formsIn(page.body).map(({ action }) => action)).toEqual([
        '/auth/account/verify-email',
        '/auth/account/delete',
      ]);
      const done = await held.submit(page, '/delete', { confirmation: ada.email });
      expect(done.location).toBe('/auth/sign-in?done=account-restorable');
      expect((await held.follow(done)).body).toMatch(
        /role="status">Your account was deleted\. Until <time [^>]*>\d+ \w+ \d{4}<\/time>, the link in our email can restore it\./,
      );
    } finally {
      await other.app.stop();
    }
  });
});
