import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { apiKeys } from '../../../lib/index.js';
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

const start = () => startPages([password(), apiKeys()]);
const PATH = '/auth/account/api-keys';

let app: Awaited<ReturnType<typeof start>>['app'];
let visitor: PageVisitor;
let id: string;
beforeAll(async () => {
  ({ app } = await start());
});
afterAll(() => app.stop());
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  const made = await app.auth.credential.signUp(ada);
  id = made?.user.id as string;
  visitor = await new PageVisitor(app.origin).signIn();
});

const open = () => visitor.get(PATH);
const keyIn = ({ body }: { body: string }) => /<output[^>]*>([^<]*)<\/output>/.exec(body)?.[1];

describe('the page', () => {
  test('leads to the sign-in without a session', async () => {
    const answer = await new PageVisitor(app.origin).get(PATH);
    const location = '/auth/sign-in?return_to=%2Fauth%2Faccount%2Fapi-keys';
    expect(answer).toMatchObject({ status: 303, location });
  });

  test('exists only with apiKeys()', async () => {
    const other = await startPages([password()]);
    try {
      await other.app.auth.credential.signUp(ada);
      const one = await new PageVisitor(other.app.origin).signIn();
      expect((await one.get(PATH)).status).toBe(404);
      expect((await one.get('/auth/account')).body).not.toContain('api-keys');
    } finally {
      await other.app.stop();
    }
  });

  test('lists the keys, and escapes their names', async () => {
    expect((await open()).body).toContain('You have no API keys.');
    const { apiKey, key } = await app.auth.apiKeys.create(id, { name: HOSTILE, scopes: ['read', 'write'] });
    await app.auth.apiKeys.create(id, { name: HOSTILE });
    const past = new Date('2026-01-31T06:30:00Z');
    await app.auth.models.ApiKey.update({ expiresAt: past }, { where: { id: apiKey.id } });
    const page = await open();
    expectEscaped(page);
    expect(page.body).toContain('Rights: read, write<br>');
    expect(page.body).toContain('Rights: <strong>all your rights</strong><br>');
    expect(page.body).toContain(
      'Expires: <time datetime="2026-01-31T06:30:00.000Z" data-part="time">31 Jan 2026, 06:30 UTC</time>',
    );
    expect(page.body.match(/>expired</g)).toHaveLength(1);
    expect(page.body).toContain(`<code>${key.slice(0, 12)}…</code>`);
    expect(page.body).not.toContain(key);
    const buttons = formsIn(page.body).map(({ button }) => button);
    expect(new Set(buttons).size).toBe(3);
    expect(page.body).toContain('Last used: Never<br>Expires: Never');
  });
});

describe('creating a key', () => {
  test('shows it once', async () => {
    const typed = { name: 'nightly', expires_in: '365', scopes: ' read  write ' };
    const before = Date.now();
    const done = await visitor.submit(await open(), '/create', typed);
    expect(done).toMatchObject({ status: 303, location: PATH });
    expect(done.body).toBe('');
    const page = await visitor.follow(done);
    const key = String(keyIn(page));
    expect(page.body).toMatch(/<h2 tabindex="-1" autofocus>Your new key: nightly<\/h2>/);
    expect(page.body).toContain(
      'hidden data-part="button secondary" data-copy="new-key" data-copied="Copied"',
    );
    const me = await app.http.get('/auth/me').set('x-service-api-key', key).expect(200);
    expect(me.body.api_key).toMatchObject({
      name: 'nightly',
      scopes: ['read', 'write'],
    });
    const days = (Date.parse(me.body.api_key.expires_at) - before) / 86_400_000;
    expect(Math.round(days)).toBe(365);
    for (const again of [await open(), await visitor.get(`${PATH}/create`), await open()])
      expect(again.body).not.toContain(key);
    expect(await app.auth.apiKeys.list(id)).toHaveLength(1);
  });

  test.each(['read,write', 'read, write', '["read","write"]'])(
    'has the rights that are typed as %s',
    async (scopes) => {
      await visitor.submit(await open(), '/create', { name: 'nightly', scopes });
      expect((await app.auth.apiKeys.list(id))[0]?.scopes).toEqual(['read', 'write']);
    },
  );

  test('shows it on no other page, and to no other browser', async () => {
    const done = await visitor.submit(await open(), '/create', { name: 'nightly' });
    const elsewhere = await visitor.get('/auth/account');
    expect(keyIn(elsewhere)).toBeUndefined();
    const other = await new PageVisitor(app.origin).signIn();
    expect(keyIn(await other.get(PATH))).toBeUndefined();
    expect(visitor.cookie).not.toContain('lkk_');
    expect(keyIn(await visitor.follow(done))).toMatch(/^lkk_/);
  });

  test('shows it in no other session that presents the cookie', async () => {
    const done = await visitor.submit(await open(), '/create', { name: 'nightly' });
    const once = visitor.cookie.split('; ').filter((pair) => pair.startsWith('latchkey-once='));
    expect(once).toHaveLength(1);
    const other = await new PageVisitor(app.origin).signIn();
    const cookie = [other.cookie, ...once].join('; ');
    const page = await app.http.get(PATH).set('Cookie', cookie).expect(200);
    expect(keyIn({ body: page.text } as never)).toBeUndefined();
    expect(keyIn(await visitor.follow(done))).toMatch(/^lkk_/);
  });

  test('needs nothing but a name, and expires if nothing else is chosen', async () => {
    await visitor.submit(await open(), '/create', { name: 'plain' });
    const [key] = await app.auth.apiKeys.list(id);
    expect(key).toMatchObject({ name: 'plain', scopes: [] });
    expect(Math.round((Number(key?.expiresAt) - Date.now()) / 86_400_000)).toBe(90);
  });

  test('can make one that does not expire', async () => {
    await visitor.submit(await open(), '/create', { name: 'plain', expires_in: '' });
    const [key] = await app.auth.apiKeys.list(id);
    expect(key).toMatchObject({ name: 'plain', expiresAt: null });
  });

  test('accepts a time in place of the number of days', async () => {
    const done = await visitor.post(`${PATH}/create`, { name: 'plain', expires_at: '2099-01-31' });
    expect(done.status).toBe(303);
    const [key] = await app.auth.apiKeys.list(id);
    expect(key?.expiresAt).toEqual(new Date('2099-01-31T00:00:00Z'));
  });

  test.each(['31', '-1', '0x1e', 'constructor'])(
    'rejects %s days, which the page does not offer',
    async (days) => {
      const refused = await visitor.post(`${PATH}/create`, { name: 'plain', expires_in: days });
      expect(refused.status).toBe(422);
      expect(await app.auth.apiKeys.list(id)).toEqual([]);
    },
  );

  test('says what a key without a choice can do', async () => {
    expect((await open()).body).toContain(
      '<p data-part="warning">Unless you limit it, this key can do everything that you can do in this app.</p><div data-part="field">',
    );
  });

  test.each([
    { name: '', expires_in: '30', scopes: 'a' },
    { name: ' ', expires_in: '30', scopes: 'a' },
    { name: HOSTILE, expires_in: '', scopes: HOSTILE },
    { name: 'x', expires_in: '365', scopes: 'x'.repeat(201) },
  ])('is refused for %j, and keeps what was typed', async (typed) => {
    const refused = await visitor.submit(await open(), '/create', typed);
    expect(refused.status).toBe(422);
    expect(refused.body).toContain('aria-invalid="true"');
    expect(formIn(refused.body, '/create').fields).toEqual(typed);
    if (typed.name === HOSTILE) expectEscaped(refused);
    if (typed.name === '') expect(refused.body).toContain('>Enter a name.</p>');
    if (typed.name === ' ') expect(refused.body).toContain('>Enter a name of at most 100 characters.</p>');
    expect(await app.auth.apiKeys.list(id)).toEqual([]);
  });

  test('asks who it is later, at the press, and keeps every choice', async () => {
    await ageSessions(app);
    const typed = { name: 'nightly', expires_in: '365', scopes: 'reports:read' };
    const pressed = await visitor.submit(await open(), '/create', typed);
    expect(pressed.location).toBe('/auth/reauthenticate?return_to=%2Fauth%2Faccount%2Fapi-keys');
    const confirm = await visitor.follow(pressed);
    const back = await visitor.follow(await visitor.submit(confirm, '/confirm', { password: ada.password }));
    expect(formIn(back.body, '/create').fields).toEqual(typed);
    expect(keyIn(await visitor.follow(await visitor.submit(back, '/create')))).toMatch(/^lkk_/);
  });
});

describe('revoking a key', () => {
  test('makes it useless', async () => {
    const { apiKey, key } = await app.auth.apiKeys.create(id, { name: 'nightly' });
    const page = await open();
    expect(page.body).toMatch(
      /<details><summary[^>]*><span data-part="opens">Revoke.*?A revoked key cannot be restored\..*?\/revoke\//s,
    );
    const done = await visitor.submit(page, `/revoke/${apiKey.id}`);
    expect(done.location).toBe(`${PATH}?done=api-key-revoked`);
    expect((await visitor.follow(done)).body).toContain('The key was revoked.');
    await app.http.get('/auth/me').set('x-service-api-key', key).expect(401);
  });

  test('is refused for a key of another user', async () => {
    const eve = await app.auth.credential.signUp({ email: 'eve@example.com', password: ada.password });
    const eveId = eve?.user.id as string;
    const { apiKey } = await app.auth.apiKeys.create(eveId, { name: 'of Eve' });
    const refused = await visitor.post(`${PATH}/revoke/${apiKey.id}`);
    expect(refused.status).toBe(404);
    expect(refused.body).toContain('role="alert"');
    expect(await app.auth.apiKeys.list(eveId)).toHaveLength(1);
  });
});

describe('an app that declares its scopes', () => {
  const scopes = { 'posts:read': `Read your posts ${HOSTILE}`, 'posts:write': 'Write posts' };
  const startDeclared = () => startPages([password(), apiKeys({ scopes })]);
  let declared: Awaited<ReturnType<typeof startDeclared>>['app'];
  let one: PageVisitor;
  let own: string;
  beforeAll(async () => {
    ({ app: declared } = await startDeclared());
    own = (await declared.auth.credential.signUp(ada))?.user.id as string;
    one = await new PageVisitor(declared.origin).signIn();
  });
  afterAll(() => declared.stop());
  const send = (pairs: [string, string][]) =>
    one.send('POST', `${PATH}/create`, new URLSearchParams([['name', 'nightly'], ...pairs]));

  test('shows a box for each, in its words', async () => {
    const page = await one.get(PATH);
    expectEscaped(page);
    expect(page.body.match(/name="scopes" type="checkbox"/g)).toHaveLength(2);
    expect(page.body).not.toContain('Unless you limit it');
  });

  test('makes a key with several of them', async () => {
    const done = await send([
      ['scopes', 'posts:read'],
      ['scopes', 'posts:write'],
    ]);
    expect(done.status).toBe(303);
    expect((await one.follow(done)).body).toContain(', Write posts<br>');
    expect(await declared.auth.apiKeys.list(own)).toMatchObject([{ scopes: ['posts:read', 'posts:write'] }]);
  });

  test('makes no key with all rights by mistake', async () => {
    const page = await one.get(PATH);
    expect(page.body).toMatch(/name="rights" type="radio" value="some" checked/);
    const before = await declared.auth.apiKeys.list(own);
    const refused = await send([['rights', 'some']]);
    expect(refused.status).toBe(422);
    expect(refused.body).toMatch(/<p data-part="error"[^>]*>Choose at least one right\.<\/p>/);
    expect((await send([['rights', 'most']])).status).toBe(422);
    expect(await declared.auth.apiKeys.list(own)).toEqual(before);
  });

  test('makes a key with all rights if everything is chosen, whatever boxes are still checked', async () => {
    const typed: [string, string][] = [
      ['rights', 'all'],
      ['scopes', 'posts:read'],
    ];
    const refused = await send([...typed, ['expires_in', '31']]);
    expect(refused.body).toMatch(/name="rights" type="radio" value="all" checked/);
    expect((await send(typed)).status).toBe(303);
    const [newest] = await declared.auth.apiKeys.list(own);
    expect(newest?.scopes).toEqual([]);
  });

  test('limits a key of a form without the choice to its boxes, and makes it with all rights without any', async () => {
    expect((await send([['scopes', 'posts:read']])).status).toBe(303);
    expect((await declared.auth.apiKeys.list(own))[0]?.scopes).toEqual(['posts:read']);
    expect((await send([])).status).toBe(303);
    expect((await declared.auth.apiKeys.list(own))[0]?.scopes).toEqual([]);
  });

  test('keeps the boxes of a form that is refused, and puts the error beside them', async () => {
    const refused = await one.send(
      'POST',
      `${PATH}/create`,
      new URLSearchParams([
        ['name', ''],
        ['scopes', 'posts:write'],
      ]),
    );
    expect(refused.status).toBe(422);
    expect(refused.body.match(/value="[^"]*"(?= checked)/g)).toEqual(['value="some"', 'value="posts:write"']);
    const unknown = await send([['scopes', 'posts:delete']]);
    expect(unknown.status).toBe(422);
    expect(unknown.body).toMatch(
      /<input id="[^"]*" name="scopes" type="checkbox" value="posts:read" autofocus aria-invalid="true">/,
    );
    const [, described] = /<fieldset data-part="field" aria-describedby="([^"]*)">/.exec(unknown.body) ?? [];
    expect(unknown.body).toContain(`id="${described}" role="alert"`);
  });
});
