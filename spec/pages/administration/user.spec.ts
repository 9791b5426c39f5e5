import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { admin, auditLog, emailSignIn, oauth, passkeys, suspension, twoFactor } from '../../../lib/index.js';
import { google } from '../../../lib/providers.js';
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
import { importUsers } from '../../support/import-users.js';
import { addPasskey, authenticator, PAGE } from '../../support/passkeys.js';
import { settled } from '../../support/sessions.js';
import { enroll } from '../../support/two-factor.js';

const root = { email: 'root@example.com', password: 'a root of all admins' };
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0';
const fields = {
  name: { type: 'string', maxLength: 80 },
  isMember: { type: 'boolean' },
  note: { type: 'string', input: 'none', output: 'admin' },
  rating: { type: 'integer', input: 'none', output: 'none' },
  bornAt: { type: 'date' },
  extra: { type: 'json' },
} as const;
const start = () =>
  startPages(
    [
      password({ username: true }),
      emailSignIn(),
      twoFactor(),
      passkeys(),
      oauth(),
      google({ clientId: 'id', clientSecret: 'secret' }),
      admin({ adminEmails: [root.email] }),
      suspension(),
      auditLog(),
    ] as const,
    { baseUrl: PAGE, user: { fields } } as never,
  );
const USERS = '/auth/administration/users';

let app: Awaited<ReturnType<typeof start>>['app'];
let box: Awaited<ReturnType<typeof start>>['box'];
let visitor: PageVisitor;
let rootId: string;
let id: string;
beforeAll(async () => {
  ({ app, box } = await start());
});
afterAll(() => app.stop());
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  rootId = (await app.auth.users.create(root)).id;
  await app.auth.markEmailVerified(rootId);
  visitor = await new PageVisitor(app.origin).signIn(root);
  id = (await app.auth.users.create({ ...ada, username: 'Ada', fields: { name: 'Lovelace' } } as never)).id;
});

const pathOf = (userId: string) => `${USERS}/${userId}`;
const open = (userId = id) => visitor.get(pathOf(userId));
/** The last parts of the actions of a page's forms. */
const actions = ({ body }: { body: string }) =>
  formsIn(body).map(({ action }) => action.split('/').slice(5).join('/'));
const factsIn = ({ body }: { body: string }) =>
  Object.fromEntries(
    [...body.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g)].map(([, name = '', value = '']) => [
      name,
      value
        .replace(/<\/?(?:time|wbr)[^>]*>/g, '')
        .replace(/<[^>]*>/g, ' ')
        .trim(),
    ]),
  );
const user = async () => (await app.auth.users.get(id)) as unknown as Record<string, unknown>;
/** What is made in the same millisecond has no order. */
const tick = () => new Promise((resolve) => setTimeout(resolve, 2));
const TIME = expect.stringMatching(/^\d+ \w+ \d{4}, \d\d:\d\d UTC$/);

describe('access', () => {
  test('leads to the sign-in without a session, and back', async () => {
    const location = `/auth/sign-in?return_to=${encodeURIComponent(pathOf(id))}`;
    expect(await new PageVisitor(app.origin).get(pathOf(id))).toMatchObject({ status: 303, location });
  });

  test('is refused to a user, also for their own account', async () => {
    const one = await new PageVisitor(app.origin).signIn();
    const refused = await one.get(pathOf(id));
    expect(refused).toMatchObject({ status: 403, type: 'text/html; charset=utf-8' });
    expect(refused.body).not.toContain('Lovelace');
    for (const action of ['edit', 'suspend', 'delete', 'end-sessions'])
      expect(await one.post(`${pathOf(rootId)}/${action}`)).toMatchObject({ status: 403 });
  });

  test.each(['01900000-0000-7000-8000-000000000000', 'x', '%00'])('%s is a page of 404', async (unknown) => {
    const answer = await visitor.get(pathOf(unknown));
    expect(answer).toMatchObject({ status: 404, type: 'text/html; charset=utf-8' });
    expect(answer.body).toContain('<a href="/auth/administration/users">‹ Users</a>');
    expect(await visitor.post(`${pathOf(unknown)}/suspend`)).toMatchObject({ status: 404 });
  });
});

describe('the facts', () => {
  test('are those that the plugins and the app have', async () => {
    expect(factsIn(await open())).toEqual({
      Email: ada.email,
      'Email confirmed': 'No',
      Username: 'Ada',
      Created: TIME,
      State: 'Active',
      Name: 'Lovelace',
      'Is member': 'None',
      Note: 'None',
      'Born at': 'None',
      Extra: 'None',
      Password: 'Yes',
      'Sign-in by email': 'No',
      'Two-factor authentication': 'Off',
      'Authenticator app': 'No',
      Passkeys: 'None',
      'Linked accounts': 'None',
    });
  });

  test('follow what changes', async () => {
    const browser = app.browser();
    const credential = { credential: ada.email, password: ada.password };
    await browser.post('/auth/signin/credential').send(credential).expect(200);
    await app.auth.markEmailVerified(id);
    await addPasskey(browser, authenticator());
    await enroll(browser);
    await app.auth.users.update(id, {
      fields: { isMember: true, bornAt: new Date('1815-12-10T06:30:00Z'), extra: { a: 1 } },
    } as never);
    expect(factsIn(await open())).toMatchObject({
      'Email confirmed': TIME,
      'Is member': 'Yes',
      'Born at': '10 Dec 1815, 06:30 UTC',
      Extra: '{&quot;a&quot;:1}',
      'Two-factor authentication': 'On',
      'Authenticator app': 'Yes',
      'Recovery codes left': '10',
      Passkeys: '1',
    });
  });

  test('name linked providers, for an account without a password', async () => {
    const google = { provider: 'google', subject: '1' };
    await importUsers(app.auth, [{ email: 'linked@example.com', accounts: [google] }]);
    const [found] = (await app.auth.admin.listUsers({ search: 'linked@example.com' })).users;
    const linked = await open(found?.id);
    expect(factsIn(linked)).toMatchObject({ 'Linked accounts': 'Google', Password: 'No' });
    expect(actions(linked)).not.toContain('require-new-password');
  });

  test('and everything else escape what others have chosen', async () => {
    await app.auth.users.update(id, { fields: { name: HOSTILE, note: HOSTILE, extra: HOSTILE } } as never);
    await app.auth.createSession(id, { userAgent: HOSTILE, ip: HOSTILE } as never);
    await app.auth.models.AuditEvent.create({
      id: '01900000-0000-7000-8000-000000000001',
      kind: HOSTILE,
      userId: id,
      ipAddress: HOSTILE.slice(0, 45),
      userAgent: HOSTILE,
      details: JSON.stringify({ [HOSTILE]: HOSTILE }),
      createdAt: new Date(),
    } as never);
    const page = await open();
    expectEscaped(page);
    // An event and its address, and the address of a session.
    expect(page.body).toMatch(
      /<p>&lt;script&gt;[^<]*<\/p>\n<p data-part="quiet"><time[^>]*>[^<]*<\/time> · &lt;script&gt;/,
    );
    expect(page.body).toMatch(/<p data-part="quiet">&lt;script&gt;[^<]*signed in/);
    await app.auth.suspension.suspend(id, { reason: HOSTILE });
    const suspended = await open();
    expectEscaped(suspended);
    expect(factsIn(suspended).Reason).toContain('&lt;script&gt;');
  });
});

describe('the buttons', () => {
  const ALL = ['edit', 'send-password-reset', 'require-new-password', 'suspend', 'delete'];

  test('are those that do something', async () => {
    expect(actions(await open())).toEqual(ALL);
    await app.auth.suspension.suspend(id);
    expect(actions(await open())).toEqual(['edit', 'reinstate', ...ALL.slice(1, 3), 'delete']);
    const { id: nameless } = await app.auth.admin.createUser({ username: 'grace' });
    expect(actions(await open(nameless))).toEqual(['edit', 'suspend', 'delete']);
  });

  test('leave out what the routes refuse for the own account', async () => {
    const page = await open(rootId);
    const [session] = await app.auth.admin.listUserSessions(rootId);
    expect(actions(page)).toEqual(['edit', 'send-password-reset', `end-session/${session?.id}`]);
    expect(factsIn(page).State).toBe('Active This is your own account.');
    for (const action of ['suspend', 'require-new-password', 'disable-second-factor', 'delete'])
      expect(
        await visitor.post(
          `${pathOf(rootId)}/${action}`,
          action === 'delete' ? { confirmation: root.email } : {},
        ),
      ).toMatchObject({ status: 409 });
  });

  test('are missing if their routes are off', async () => {
    const other = await startPages([
      admin({ adminEmails: [root.email], manageUsers: false }),
      password(),
    ] as const);
    try {
      const owner = await other.app.auth.users.create(root);
      await other.app.auth.markEmailVerified(owner.id);
      const other1 = await other.app.auth.users.create(ada);
      const page = await (await new PageVisitor(other.app.origin).signIn(root)).get(pathOf(other1.id));
      expect(actions(page)).toEqual(['send-password-reset', 'require-new-password']);
      expect(page.body).not.toContain('Recent events');
      expect(Object.keys(factsIn(page))).toEqual([
        'Email',
        'Email confirmed',
        'Created',
        'State',
        'Password',
      ]);
    } finally {
      await other.app.stop();
    }
  });

  test('ask for a recent sign-in, and lead back', async () => {
    const page = await open();
    await ageSessions(app);
    const hour = ['edit', 'send-password-reset', 'require-new-password', 'delete'];
    for (const action of hour) {
      const typed: Record<string, string> = action === 'delete' ? { confirmation: ada.email } : {};
      const pressed = await visitor.submit(page, `/${id}/${action}`, typed);
      const back = encodeURIComponent(pathOf(id));
      expect(pressed.location).toBe(`/auth/reauthenticate?return_to=${back}`);
    }
    expect(await user()).toMatchObject({ username: 'ada' });
  });

  test('ask for one more press after a deletion was confirmed, at the button and above the page', async () => {
    await ageSessions(app);
    const pressed = await visitor.submit(await open(), `/${id}/delete`, { confirmation: ada.email });
    const confirm = await visitor.follow(pressed);
    const back = await visitor.follow(await visitor.submit(confirm, '/confirm', { password: root.password }));
    const [, button] = /Continue with “<a href="#([^"]*)">Yes, delete<\/a>”\./.exec(back.body) ?? [];
    expect(back.body.split(' autofocus')).toHaveLength(2);
    expect(back.body).toMatch(new RegExp(`<button id="${button}" [^>]* autofocus[^>]*>Yes, delete`));
    expect((await visitor.submit(back, `/${id}/delete`)).location).toBe(`${USERS}?done=user-deleted`);
  });
});

test('the actions are rows of one list, each with a title, a sentence and a button', async () => {
  const { body } = await open();
  const [, list = ''] = /<h2>Actions<\/h2>\n<ul data-part="list">(.*?)<\/ul>/s.exec(body) ?? [];
  const row =
    /<li data-part="item"><div><p><strong>(.*?)<\/strong><\/p><p data-part="quiet">[^<]+<\/p><\/div>.*?<button data-part="button \w+">(.*?)<\/button>.*?<\/li>/gs;
  expect(
    [...list.matchAll(row)].map(([, title, button]) => [title, button?.replace(/<[^>]*>/g, '')]),
  ).toEqual([
    ['New password by email', 'Send a link for a new password'],
    ['New password at the next sign-in', 'Yes, require a new password'],
    ['Suspension', 'Yes, suspend the user'],
    ['Deletion', 'Yes, delete the user'],
  ]);
  expect(list.replace(row, '')).toBe('');
});

describe('the form that edits', () => {
  test('has the present values, changes them, and keeps the others', async () => {
    await app.auth.users.update(id, {
      fields: { bornAt: new Date('1815-12-10T06:30:15Z'), rating: 5 },
    } as never);
    const page = await open();
    expect(formIn(page.body, '/edit').fields).toEqual({
      username: 'Ada',
      'has-username': 'true',
      name: 'Lovelace',
      checkboxes: 'is_member',
      note: '',
      born_at: '1815-12-10T06:30:15.000',
    });
    const answer = await visitor.submit(page, '/edit', {
      username: 'Countess',
      note: 'VIP',
      is_member: 'true',
    });
    expect(answer.location).toBe(`${pathOf(id)}?done=user-changed`);
    expect((await visitor.follow(answer)).body).toContain('The changes were saved.');
    expect(await user()).toMatchObject({
      username: 'countess',
      name: 'Lovelace',
      note: 'VIP',
      isMember: true,
      bornAt: new Date('1815-12-10T06:30:15Z'),
    });
    const [row] = await rows(app.database, 'SELECT rating FROM users WHERE id = :id', { id });
    expect(row).toEqual({ rating: 5 });
  });

  test('shows what is wrong, and what was typed', async () => {
    const refused = await visitor.submit(await open(), '/edit', {
      username: 'Root',
      name: HOSTILE.repeat(3),
    });
    expect(refused.status).toBe(422);
    expect(refused.body).toMatch(/<details open><summary[^>]*><span data-part="opens">Edit/);
    expect(refused.body).toMatch(/id="[\w-]+-edit-name-error" role="alert">Must /);
    expect(formIn(refused.body, '/edit').fields).toMatchObject({ username: 'Root', name: HOSTILE.repeat(3) });
    expectEscaped(refused);
    await app.auth.admin.createUser({ username: 'grace' });
    const taken = await visitor.submit(await open(), '/edit', { username: 'Grace' });
    expect(taken.status).toBe(409);
    expect(formIn(taken.body, '/edit').fields).toMatchObject({ username: 'Grace' });
    expect(await user()).toMatchObject({ username: 'ada', name: 'Lovelace' });
  });

  test('does not remove a username, and needs none of a user who has none', async () => {
    const emptied = await visitor.submit(await open(), '/edit', { username: '' });
    expect(emptied.status).toBe(422);
    expect(emptied.body).toContain('Enter a username.');
    const other = await app.auth.users.create({ email: 'grace@example.com' } as never);
    const done = await visitor.submit(await open(other.id), '/edit', { name: 'Grace' });
    expect(done.status).toBe(303);
    expect(await app.auth.users.get(other.id)).toMatchObject({ username: null, name: 'Grace' });
  });
});

describe('suspending', () => {
  test('takes a reason and a time, and ends', async () => {
    const until = new Date(Math.ceil(Date.now() / 60_000 + 60) * 60_000);
    const typed = { reason: 'spam', until: until.toISOString().slice(0, 16) };
    const answer = await visitor.submit(await open(), '/suspend', typed);
    const suspended = await visitor.follow(answer);
    expect(suspended.body).toContain('The user is suspended.');
    expect(factsIn(suspended)).toMatchObject({
      State: expect.stringMatching(/^Suspended since .* UTC, until .* UTC\.$/),
      Reason: 'spam',
    });
    expect((await app.auth.admin.getUser(id)).suspendedUntil).toEqual(until);
    const reinstated = await visitor.follow(await visitor.submit(suspended, '/reinstate'));
    expect(reinstated.body).toContain('The suspension has ended.');
    expect(factsIn(reinstated)).toMatchObject({ State: 'Active' });
  });

  test('shows what is wrong, and what was typed; it needs no recent sign-in', async () => {
    await ageSessions(app);
    const typed = { reason: HOSTILE, until: '2001-01-01T00:00' };
    const refused = await visitor.submit(await open(), '/suspend', typed);
    expect(refused.status).toBe(422);
    expect(refused.body).toMatch(/<details open><summary[^>]*><span data-part="opens">Suspend/);
    expect(formIn(refused.body, '/suspend').fields).toEqual(typed);
    expectEscaped(refused);
    expect(await visitor.submit(await open(), '/suspend')).toMatchObject({ status: 303 });
    const old = await visitor.submit(await open(), '/reinstate');
    expect(old.location).toContain('/auth/reauthenticate?return_to=');
  });
});

describe('passwords', () => {
  test('a link is emailed', async () => {
    let answer = await open();
    const mail = await box.mailOf(ada.email, 'reset-password', async () => {
      answer = await visitor.submit(answer, '/send-password-reset');
    });
    expect(mail.user).toMatchObject({ id });
    expect((await visitor.follow(answer)).body).toContain('The email is on its way.');
  });

  test('too many links are refused', async () => {
    const limited = await startPages(
      [password(), admin({ adminEmails: [root.email] })] as const,
      {
        rateLimit: {},
      } as never,
    );
    try {
      const owner = await limited.app.auth.users.create(root);
      await limited.app.auth.markEmailVerified(owner.id);
      const other = await limited.app.auth.users.create(ada);
      const one = await new PageVisitor(limited.app.origin).signIn(root);
      const send = () => one.post(`${pathOf(other.id)}/send-password-reset`);
      for (let sent = 0; sent < 10; sent++) expect((await send()).status).toBe(303);
      const refused = await send();
      expect(refused.status).toBe(429);
      expect(refused.body).toMatch(/Try again in \d+ minutes/);
      expect(actions(refused)).toContain('send-password-reset');
    } finally {
      await limited.app.stop();
    }
  });

  test('a new one is required', async () => {
    await app.auth.createSession(id);
    const answer = await visitor.submit(await open(), '/require-new-password');
    const after = await visitor.follow(answer);
    expect(after.body).toContain('The user must choose a new password.');
    expect(after.body).toContain('The user has no session.');
    expect((await user()).newPasswordRequiredAt).toBeInstanceOf(Date);
  });
});

test('the second factor is turned off, where it is on', async () => {
  const browser = app.browser();
  await app.auth.markEmailVerified(id);
  const credential = { credential: ada.email, password: ada.password };
  await browser.post('/auth/signin/credential').send(credential).expect(200);
  expect(actions(await open())).not.toContain('disable-second-factor');
  await enroll(browser);
  const page = await open();
  await ageSessions(app);
  const pressed = await visitor.submit(page, '/disable-second-factor');
  expect(pressed.location).toContain('/auth/reauthenticate?return_to=');
  visitor = await new PageVisitor(app.origin).signIn(root);
  const after = await visitor.follow(await visitor.submit(page, '/disable-second-factor'));
  expect(after.body).toContain('Two-factor authentication of the user was turned off.');
  expect(factsIn(after)).toMatchObject({ 'Two-factor authentication': 'Off' });
  expect(actions(after)).not.toContain('disable-second-factor');
  expect((await app.auth.twoFactor.status(id)).totp).toBe(false);
});

describe('deleting', () => {
  test('deletes the user, and leads to the list', async () => {
    const typed = { confirmation: ada.email };
    for (const other of ['', root.email]) {
      const refused = await visitor.submit(await open(), '/delete', { confirmation: other });
      expect(refused.status).toBe(422);
      expect(refused.body).toMatch(/name="confirmation"[^>]* autofocus[^>]* aria-invalid="true"/);
      expect(await app.auth.users.get(id)).not.toBeNull();
    }
    const answer = await visitor.submit(await open(), '/delete', typed);
    expect(answer.location).toBe(`${USERS}?done=user-deleted`);
    expect((await visitor.follow(answer)).body).toContain('The user was deleted.');
    expect(await app.auth.users.get(id)).toBeNull();
    expect(await open()).toMatchObject({ status: 404 });
  });

  test('with a grace, closes the account, after which there is nothing to delete', async () => {
    const kept = await startPages([password(), admin({ adminEmails: [root.email] })] as const, {
      accountDeletion: { graceDays: 30 },
    });
    try {
      const owner = await kept.app.auth.users.create(root);
      await kept.app.auth.markEmailVerified(owner.id);
      const { id: closed } = await kept.app.auth.users.create(ada);
      const one = await new PageVisitor(kept.app.origin).signIn(root);
      const page = await one.get(pathOf(closed));
      expect(page.body).toContain('After 30 days, it will be permanently deleted');
      const after = await one.follow(await one.submit(page, '/delete', { confirmation: ada.email }));
      expect(after.body).toContain('The account can no longer be used, and will be permanently deleted.');
      expect(factsIn(after)).toMatchObject({
        State: expect.stringMatching(
          /^The deletion was requested on .* Until \d+ \w+ \d{4}, .* the account can be restored: .* npx latchkey users restore/,
        ),
      });
      expect(actions(after)).toEqual([]);
    } finally {
      await kept.app.stop();
    }
  });
});

describe('the sessions', () => {
  test('are listed with names that differ, and end one by one', async () => {
    await app.auth.createSession(id, { userAgent: FIREFOX, ip: '203.0.113.7' });
    await tick();
    await app.auth.createSession(id, { userAgent: 'curl/8.5' });
    const page = await open();
    expect(page.body).toContain('203.0.113.7');
    const buttons = formsIn(page.body).filter(({ action }) => action.includes('/end-session/'));
    expect(buttons.map(({ button }) => button)).toEqual([
      expect.stringMatching(/^End curl, signed in /),
      expect.stringMatching(/^End Firefox on Linux, signed in /),
    ]);
    const [first] = await app.auth.admin.listUserSessions(id);
    const after = await visitor.follow(await visitor.submit(page, `/end-session/${first?.id}`));
    expect(after.body).toContain('The session has ended.');
    expect(after.body).not.toContain('curl,');
    expect(await app.auth.admin.listUserSessions(id)).toHaveLength(1);
    const gone = await visitor.submit(page, `/end-session/${first?.id}`);
    expect(gone.status).toBe(404);
    expect(gone.body).toContain('data-part="errors"');
    expect(gone.body).toContain('Firefox on Linux');
    // A user who reloads the page of a form gets the page.
    expect(await visitor.get(`${pathOf(id)}/end-session/${first?.id}`)).toMatchObject({
      status: 303,
      location: pathOf(id),
    });
  });

  test('end together, if there are several', async () => {
    await app.auth.createSession(id);
    expect(actions(await open())).not.toContain('end-sessions');
    await app.auth.createSession(id);
    const after = await visitor.follow(await visitor.submit(await open(), '/end-sessions'));
    expect(after.body).toContain('All sessions of the user have ended.');
    expect(after.body).toContain('The user has no session.');
    expect(await app.auth.admin.listUserSessions(id)).toEqual([]);
  });

  test('of another user cannot be ended here', async () => {
    const [own] = await app.auth.admin.listUserSessions(rootId);
    expect(await visitor.post(`${pathOf(id)}/end-session/${own?.id}`)).toMatchObject({ status: 404 });
    expect(await open()).toMatchObject({ status: 200 });
  });
});

/** The events of a user, as the page lists them. */
const eventsOf = async (userId: string) => {
  // They are recorded after what has caused them.
  await settled(app.auth);
  const { body } = await open(userId);
  return [...body.matchAll(/<p>([A-Z][a-z ]+)<\/p>\n<p data-part="quiet"><time/g)].map(([, kind]) => kind);
};

test('the last 10 events of the user are listed', async () => {
  const { id: other } = await app.auth.users.create({ email: 'eve@example.com' });
  for (let made = 0; made < 11; made++) await app.auth.suspension.suspend(id);
  await tick();
  await app.auth.suspension.reinstate(id);
  await app.auth.suspension.suspend(other);
  expect(await eventsOf(id)).toEqual([
    'The suspension was ended',
    ...Array(9).fill('The user was suspended'),
  ]);
});

test('an act of an administrator is listed once', async () => {
  const created = await visitor.post(`${USERS}/create`, { email: 'grace@example.com' });
  const graceId = new URL(String(created.location), 'http://localhost').pathname.split('/').at(-1) ?? '';
  await app.auth.createSession(graceId);
  await app.auth.createSession(graceId);
  await tick();
  await visitor.post(`${pathOf(graceId)}/end-sessions`);
  const events = await eventsOf(graceId);
  expect(events.filter((event) => event?.startsWith('An administrator'))).toEqual([
    'An administrator ended all sessions',
    'An administrator created the account',
  ]);
  expect(events).not.toContain('A session ended');
  expect(events).not.toContain('The account was created');
});
