import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { admin, suspension } from '../../../lib/index.js';
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

const root = { email: 'root@example.com', password: 'a root of all admins' };
const fields = {
  name: { type: 'string', maxLength: 80 },
  plan: { type: 'string', enum: ['free', 'pro'], default: 'free', input: 'none' },
  rating: { type: 'integer', input: 'none', output: 'none' },
} as const;
const plugins = () =>
  [password({ username: true }), admin({ adminEmails: [root.email] }), suspension()] as const;
const start = () => startPages(plugins(), { user: { fields }, accountDeletion: { graceDays: 30 } } as never);
const PATH = '/auth/administration/users';

let app: Awaited<ReturnType<typeof start>>['app'];
let box: Awaited<ReturnType<typeof start>>['box'];
let visitor: PageVisitor;
beforeAll(async () => {
  ({ app, box } = await start());
});
afterAll(() => app.stop());
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  const { id } = await app.auth.users.create(root);
  await app.auth.markEmailVerified(id);
  visitor = await new PageVisitor(app.origin).signIn(root);
});

const create = async (user: object) => {
  // Users of the same millisecond have no order.
  await new Promise((resolve) => setTimeout(resolve, 2));
  return app.auth.admin.createUser(user);
};
const open = (query = '') => visitor.get(PATH + query);
/** What the table shows of each user, in its columns. */
const listed = ({ body }: { body: string }) =>
  [...body.matchAll(/<tr role="row"><th scope="row"(.*?)<\/tr>/gs)].map(([, row = '']) =>
    row
      .split(/<\/t[hd]>/)
      .slice(0, -1)
      .map((cell) => cell.replace(/^[^<]*>|<[^>]*>/g, '').trim()),
  );
const columnsOf = ({ body }: { body: string }) =>
  [...body.matchAll(/<th scope="col" role="columnheader">(.*?)<\/th>/g)].map(([, name]) => name);
const hrefs = ({ body }: { body: string }) =>
  [...body.matchAll(/<th scope="row" role="rowheader"><a href="([^"]*)">/g)].map(([, href]) => href);
const nextOf = ({ body }: { body: string }) =>
  /<p><a href="([^"]*cursor=[^"]*)">/.exec(body)?.[1]?.replaceAll('&amp;', '&');

describe('access', () => {
  test('leads to the sign-in without a session, and back', async () => {
    const answer = await new PageVisitor(app.origin).get(`${PATH}?search=ada`);
    const returnTo = encodeURIComponent(`${PATH}?search=ada`);
    expect(answer).toMatchObject({ status: 303, location: `/auth/sign-in?return_to=${returnTo}` });
  });

  test('is refused to a user, whose pages do not lead here', async () => {
    await app.auth.users.create(ada);
    const user = await new PageVisitor(app.origin).signIn();
    const answer = await user.get(PATH);
    expect(answer).toMatchObject({ status: 403, type: 'text/html; charset=utf-8' });
    expect(answer.body).not.toContain(root.email);
    expect(await user.post(`${PATH}/create`, { email: 'x@example.com' })).toMatchObject({ status: 403 });
    const own = (await open()).body;
    expect(own).toContain('Part of an email or a username. Nothing else is searched.');
    expect(own).toContain(`<a href="${PATH}" aria-current="page">`);
  });

  test('is there only with admin()', async () => {
    const other = await startPages([password()]);
    try {
      await other.app.auth.users.create(root);
      const one = await new PageVisitor(other.app.origin).signIn(root);
      expect(await one.get(PATH)).toMatchObject({ status: 404 });
    } finally {
      await other.app.stop();
    }
  });
});

describe('the list', () => {
  test('shows the newest first, with their states, and leads to their pages', async () => {
    const verified = await create({
      email: 'a@example.com',
      username: 'Grace',
      fields: { name: 'Grace H.' },
    });
    await app.auth.markEmailVerified(verified.id);
    const suspended = await create({ username: 'only-a-name' });
    await app.auth.suspension.suspend(suspended.id);
    const expired = await create({ email: 'expired@example.com' });
    await app.auth.suspension.suspend(expired.id);
    await app.auth.models.User.update(
      { suspendedUntil: new Date(Date.now() - 60_000) } as never,
      { where: { id: expired.id } } as never,
    );
    const closed = await create({ email: 'closed@example.com' });
    await app.auth.users.delete(closed.id);
    const page = await open();
    const created = expect.stringMatching(/^\d+ \w+ \d{4}$/);
    expect(page.body).toMatch(/ data-day title="\d+ \w+ \d{4}, \d\d:\d\d UTC">/);
    expect(columnsOf(page)).toEqual(['User', 'Name', 'State', 'Created']);
    expect(listed(page)).toEqual([
      ['closed@example.com email not confirmed', '', 'Deletion pending', created],
      ['expired@example.com email not confirmed', '', 'Active', created],
      ['only-a-name', '', 'Suspended', created],
      ['a@example.comGrace', 'Grace H.', 'Active', created],
      ['root@example.com you', '', 'Active', created],
    ]);
    const warned = page.body
      .match(/<span data-part="tag" data-state="warn">[^<]*/g)
      ?.map((one) => one.replace(/.*>/, ''));
    expect(warned).toEqual(['email not confirmed', 'Deletion pending', 'email not confirmed', 'Suspended']);
    expect(page.body).toContain('<h2>Create a user</h2>');
    const ids = [closed, expired, suspended, verified].map(({ id }) => `${PATH}/${id}`);
    expect(hrefs(page).slice(0, 4)).toEqual(ids);
    expect(await visitor.get(`${PATH}/${suspended.id}`)).toMatchObject({ status: 200 });
  });

  test('shows the id of a user without an email and a username: a name could be the email of somebody else', async () => {
    const { id } = await create({ username: 'ada', fields: { name: 'root@example.com' } });
    await rows(
      app.database,
      "UPDATE users SET username = NULL, username_display = NULL WHERE username = 'ada'",
    );
    expect(listed(await open())[0]?.[0]).toBe(id);
    expect((await visitor.get(`${PATH}/${id}`)).body).toContain(`<h1>${id}</h1>`);
  });

  test('says what an empty form for a new user needs', async () => {
    const refused = await visitor.submit(await open(), '/create', {});
    expect([refused.status, refused.body.includes('Enter an email or a username.')]).toEqual([422, true]);
  });

  test('has no column of names if nobody has one', async () => {
    expect(columnsOf(await open())).toEqual(['User', 'State', 'Created']);
  });

  test('escapes what users have chosen', async () => {
    await create({ email: 'a@example.com', fields: { name: HOSTILE } });
    expectEscaped(await open());
  });

  test('has pages', async () => {
    const past = new Date();
    const many = Array.from({ length: 60 }, (_, index) => ({
      id: `01800000-0000-7000-8000-${String(index).padStart(12, '0')}`,
      email: `person-${index}@example.com`,
      authEpoch: 0,
      createdAt: past,
      updatedAt: past,
    }));
    await app.auth.models.User.bulkCreate(many as never, { logging: false });
    const first = await open('?search=person');
    expect(hrefs(first)).toHaveLength(50);
    const next = nextOf(first);
    expect(next).toMatch(/\?search=person&cursor=/);
    const second = await visitor.get(String(next));
    expect(hrefs(second)).toHaveLength(10);
    expect(nextOf(second)).toBeUndefined();
    expect(new Set([...hrefs(first), ...hrefs(second)]).size).toBe(60);
    expect(second.body).toContain('value="person"');
  });

  test('searches, and keeps what was searched for', async () => {
    await create({ email: 'grace@example.com' });
    await create({ username: 'Gracious' });
    expect(listed(await open('?search=grac'))).toHaveLength(2);
    expect(listed(await open('?search=grace%40example.com'))).toHaveLength(1);
    expect(listed(await open('?search='))).toHaveLength(3);
    const all = `<p><a href="${PATH}">Show all users</a></p>`;
    expect((await open('?search=grac')).body).toContain(all);
    expect((await open()).body).not.toContain(all);
    const none = await open(`?search=${encodeURIComponent(HOSTILE)}`);
    expect(listed(none)).toEqual([]);
    expect(none.body).toContain('No email or username contains “');
    expectEscaped(none);
  });

  test.each(['?cursor=x', `?search=${'x'.repeat(255)}`, '?search=%00'])(
    '%s is a page of 400',
    async (query) => {
      expect(await open(query)).toMatchObject({ status: 400, type: 'text/html; charset=utf-8' });
    },
  );
});

describe('the form that creates a user', () => {
  test('creates one with fields of administrators, who is invited', async () => {
    const page = await open();
    const { fields: inputs } = formIn(page.body, '/users/create');
    expect(page.body).toContain(
      'Without an email, the user cannot choose a password. Ask the people who run the server to set one.',
    );
    expect(inputs).toEqual({ email: '', username: '', name: '', plan: 'free', rating: '' });
    const typed = { email: 'grace@example.com', username: 'Grace', plan: 'pro', rating: '5' };
    let answer = page;
    await box.mailOf('grace@example.com', 'invitation', async () => {
      answer = await visitor.submit(page, '/users/create', typed);
    });
    const [user] = (await app.auth.admin.listUsers({ search: 'grace' })).users;
    expect(user).toMatchObject({ email: 'grace@example.com', username: 'grace', plan: 'pro' });
    expect(answer.location).toBe(`${PATH}/${user?.id}?done=user-invited`);
    const created = await visitor.follow(answer);
    expect(created.body).toContain(
      'The user was created, and gets an email with a link to choose a password.',
    );
    expect(created.body).toContain(`<p data-part="up"><a href="${PATH}">‹ Users</a></p>`);
    expect(created.body).toContain('Send a link to choose a password</button>');
    const unnamed = await visitor.submit(await open(), '/users/create', { username: 'hedy' });
    expect((await visitor.follow(unnamed)).body).toContain('The user was created.<');
  });

  test('shows what is wrong, and what was typed', async () => {
    await create({ email: 'grace@example.com' });
    const refused = await visitor.submit(await open(), '/users/create', {
      email: 'no address',
      name: HOSTILE,
    });
    expect(refused.status).toBe(422);
    expect(refused.body).toMatch(/<details open><summary[^>]*><span data-part="opens">Create a user/);
    expect(formIn(refused.body, '/users/create').fields).toMatchObject({
      email: 'no address',
      name: HOSTILE,
    });
    expect(refused.body).toMatch(/id="users-create-email-error" role="alert">Enter an email such as/);
    expectEscaped(refused);
    const taken = await visitor.submit(await open(), '/users/create', { email: 'grace@example.com' });
    expect(taken.status).toBe(409);
    expect(taken.body).toMatch(/already/);
    expect(await visitor.submit(await open(), '/users/create', {})).toMatchObject({ status: 422 });
    expect((await app.auth.admin.listUsers()).users).toHaveLength(2);
  });

  test('asks for a recent sign-in, and leads back', async () => {
    await ageSessions(app);
    const pressed = await visitor.submit(await open(), '/users/create', { email: 'grace@example.com' });
    expect(pressed.location).toBe(`/auth/reauthenticate?return_to=${encodeURIComponent(PATH)}`);
    const confirm = await visitor.follow(pressed);
    const back = await visitor.follow(await visitor.submit(confirm, '/confirm', { password: root.password }));
    expect(formIn(back.body, '/users/create').fields).toMatchObject({ email: 'grace@example.com' });
    expect((await app.auth.admin.listUsers()).users).toHaveLength(1);
  });

  test('is missing if administrators cannot create users, and has no username without usernames', async () => {
    const configs = [
      [[password(), admin({ adminEmails: [root.email], manageUsers: false })], []],
      [[password(), admin({ adminEmails: [root.email] })], ['email']],
    ] as const;
    for (const [some, inputs] of configs) {
      const other = await startPages(some);
      try {
        const { id } = await other.app.auth.users.create(root);
        await other.app.auth.markEmailVerified(id);
        const page = await (await new PageVisitor(other.app.origin).signIn(root)).get(PATH);
        expect(page.status).toBe(200);
        expect(formsIn(page.body).flatMap(({ fields }) => Object.keys(fields))).toEqual(inputs);
      } finally {
        await other.app.stop();
      }
    }
  });
});
