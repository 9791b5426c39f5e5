import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Auth, type AuthConfig, admin, createAuth, emailSignIn, type Plugin } from '../../lib/index.js';
import { type PagesOptions, pages } from '../../lib/pages.js';
import { formIn, PageVisitor, startPages } from '../support/account-pages.js';
import { ada, password, SECRET } from '../support/app.js';

type Fields = NonNullable<AuthConfig['user']>['fields'];

const root = { email: 'root@example.com', password: 'the password of root' };
const fields = {
  name: { type: 'string', required: true, default: 'Someone' },
  birthday: { type: 'plainDate', label: 'Date of birth' },
  plan: { type: 'string', enum: ['free', 'pro'], default: 'free', labels: { free: 'Free of charge' } },
  height: { type: 'integer' },
  weight: { type: 'number' },
  size: { type: 'integer', enum: [1, 2], labels: { '1': 'Small' } },
  newsletter: { type: 'boolean', label: 'Email me news', default: true },
  source: { type: 'string', onPages: false },
} as const;
const start = () =>
  startPages([password({ signInOnSignUp: true }), admin({ adminEmails: [root.email] })], {
    user: { fields },
  } as never);

let app: Awaited<ReturnType<typeof start>>['app'];
let visitor: PageVisitor;
beforeAll(async () => {
  ({ app } = await start());
  await app.auth.users.create({ ...root, emailVerified: true } as never);
  visitor = new PageVisitor(app.origin);
});
afterAll(() => app.stop());

/** Returns the labels of a page's inputs. */
const labelsOf = (body: string) =>
  [...body.matchAll(/<label for="[^"]*">(.*?)<\/label>/g)].map(([, text = '']) =>
    text.replace(/<[^>]*>/g, ''),
  );

test('a sign-up has the words of the app, the password before its fields, and only what it shows', async () => {
  const { body } = await visitor.get('/auth/sign-up');
  expect(labelsOf(body)).toEqual([
    'Email',
    'Password',
    'Name',
    'Date of birth (optional)',
    'Plan',
    'Height (optional)',
    'Weight (optional)',
    'Size (optional)',
    'Email me news',
  ]);
  expect(body).toMatch(/name="birthday" type="date" autocomplete="bday"/);
  expect(body).toContain(
    '<option value="free" selected>Free of charge</option><option value="pro">pro</option>',
  );
  expect(body).toContain('<option value="" selected>Not set</option><option value="1">Small</option>');
  expect(formIn(body, '/password').fields).toMatchObject({ newsletter: 'true', checkboxes: 'newsletter' });
  const answer = await visitor.submit(await visitor.get('/auth/sign-up'), '/password', {
    email: ada.email,
    password: ada.password,
    birthday: '1815-12-10',
    newsletter: undefined,
  });
  expect(answer.status).toBe(303);
  expect((await app.auth.admin.listUsers({ search: ada.email })).users).toMatchObject([
    { name: 'Someone', birthday: '1815-12-10', plan: 'free', size: null, newsletter: false, source: null },
  ]);
});

test('a rejected day is shown again beside its error', async () => {
  const page = await visitor.get('/auth/account');
  expect(formIn(page.body, '/profile').fields).toMatchObject({ birthday: '1815-12-10' });
  const refused = await visitor.submit(page, '/profile', { birthday: '2026-02-30' });
  expect(refused.status).toBe(422);
  expect(refused.body).toMatch(/value="2026-02-30"[^>]* aria-invalid="true"/);
});

test.each([
  ['height', '45.5', 'Enter a whole number, such as 45.'],
  ['height', 'tall', 'Enter a whole number, such as 45.'],
  ['weight', 'heavy', 'Enter a number.'],
  ['birthday', 'tomorrow', 'Enter a date.'],
])('%s is not %s', async (name, typed, text) => {
  const page = await visitor.get('/auth/account');
  const refused = await visitor.submit(page, '/profile', { [name]: typed });
  expect(refused.status).toBe(422);
  expect(refused.body).toContain(text);
});

test('an emptied field that is required is an error, for administrators too', async () => {
  const page = await visitor.get('/auth/account');
  const refused = await visitor.submit(page, '/profile', { name: '', height: 'tall' });
  expect(refused.status).toBe(422);
  expect(refused.body).toContain('Enter a name.');
  expect(refused.body).toContain('Enter a whole number, such as 45.');
  const one = await new PageVisitor(app.origin).signIn(root);
  const [user] = (await app.auth.admin.listUsers({ search: ada.email })).users;
  const shown = await one.get(`/auth/administration/users/${user?.id}`);
  const edited = await one.submit(shown, '/edit', { name: '' });
  expect(edited.status).toBe(422);
  expect(edited.body).toContain('Enter a name.');
  expect((await app.auth.admin.listUsers({ search: ada.email })).users).toMatchObject([{ name: 'Someone' }]);
});

test('administrators see the same words', async () => {
  const one = await new PageVisitor(app.origin).signIn(root);
  const [user] = (await app.auth.admin.listUsers({ search: ada.email })).users;
  const { body } = await one.get(`/auth/administration/users/${user?.id}`);
  for (const [name, value] of [
    ['Date of birth', '<time datetime="1815-12-10" data-part="time" data-utc data-day>10 Dec 1815</time>'],
    ['Plan', 'Free of charge'],
    ['Email me news', 'No'],
  ])
    expect(body).toContain(`<dt>${name}</dt><dd>${value}</dd>`);
  expect(body).not.toContain('Source');
});

test('fields say what they accept, before and after a mistake', async () => {
  const hint = 'Four digits, such as 1010.';
  const own = await startPages([password({ signInOnSignUp: true })], {
    user: {
      fields: {
        zip: { type: 'string', required: true, pattern: /^\d{4}$/, label: 'Postal code', hint },
        rating: { type: 'integer', minimum: 1, maximum: 10 },
        age: { type: 'integer', minimum: 18 },
        plan: { type: 'string', required: true, enum: ['free', 'pro'], hint: 'You can change it later.' },
        news: { type: 'boolean', hint: 'Once a month.' },
      },
    },
  } as never);
  const one = new PageVisitor(own.app.origin);
  const page = await one.get('/auth/sign-up');
  for (const text of [hint, 'From 1 to 10.', 'At least 18.', 'You can change it later.', 'Once a month.'])
    expect(page.body).toMatch(new RegExp(`<p data-part="hint" id="[\\w-]+">${text}</p>`));
  expect(page.body).toContain('<option value="" selected>Choose…</option>');
  expect(page.body).toMatch(/<select id="([\w-]+)" name="plan" aria-describedby="\1-hint">/);
  const typed = { email: ada.email, password: ada.password, zip: 'AB', plan: 'free' };
  const refused = await one.submit(page, '/password', typed);
  expect(refused.body).toContain(`Check the format of Postal code. ${hint}`);
  const unchosen = await one.submit(page, '/password', { ...typed, zip: '1010', plan: '' });
  expect(unchosen.body).toContain('Choose one of these.');
  await own.app.stop();
});

describe('a required field without a default that no page asks for', () => {
  const NOT_SHOWN = { source: { type: 'string', required: true, onPages: false } } as const;
  const create = (
    { fields = NOT_SHOWN, ...config }: { fields?: Fields; signUp?: 'open' | 'closed' } = {},
    options: PagesOptions = {},
    plugins: readonly Plugin[] = [password()],
  ) =>
    createAuth({
      database: 'sqlite::memory:',
      secret: SECRET,
      baseUrl: 'http://localhost',
      email: { send: async () => {} },
      user: { fields },
      plugins: [...plugins, pages(options)],
      ...config,
    } as never);

  test.each([
    ['a sign-up with a password', NOT_SHOWN, [password()], 'onPages: true'],
    ['a sign-up by email', NOT_SHOWN, [emailSignIn({ signUp: true })], 'onPages: true'],
    [
      'a field that no input can show',
      { settings: { type: 'json', required: true } } as const,
      [password()],
      'a default',
    ],
  ])('makes %s impossible, which the app learns at its start', (_what, fields, plugins, remedy) => {
    expect(() => create({ fields }, {}, plugins)).toThrow(
      new RegExp(
        `^latchkey: user\\.fields\\.\\w+ is required and has no default, .* no one could sign up on the pages: .*${remedy}`,
      ),
    );
  });

  test.each([
    ['sign-ups are closed', { signUp: 'closed' } as const, {}],
    ['the app has its own page', {}, { own: { 'sign-up': '/join' } }],
    ['it has a default', { fields: { source: { ...NOT_SHOWN.source, default: 'web' } } }, {}],
    ['it is optional', { fields: { source: { ...NOT_SHOWN.source, required: false } } }, {}],
  ])('is fine if %s', async (_why, config, options) => {
    await (create(config, options) as Auth).close();
  });
});
