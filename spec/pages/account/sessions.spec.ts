import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { SessionsValues } from '../../../lib/pages/account/sessions.js';
import type { RenderedPage } from '../../../lib/pages.js';
import { expectEscaped, formsIn, HOSTILE, PageVisitor, startPages } from '../../support/account-pages.js';
import { ada, password } from '../../support/app.js';
import { rows } from '../../support/database.js';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0';
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1';
const eve = { email: 'eve@example.com', password: 'eavesdropping all day' };
const start = () => startPages([password()]);

let app: Awaited<ReturnType<typeof start>>['app'];
let visitor: PageVisitor;
let other: PageVisitor;
beforeAll(async () => {
  ({ app } = await start());
});
afterAll(() => app.stop());
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  await app.auth.credential.signUp(ada);
  visitor = await new PageVisitor(app.origin, { 'user-agent': FIREFOX }).signIn();
  other = await new PageVisitor(app.origin, { 'user-agent': 'curl/8.5' }).signIn();
});

const open = () => visitor.get('/auth/account/sessions');
const isSignedIn = async (one: PageVisitor) => (await one.get('/auth/me')).status === 200;
const endsIn = (body: string) => formsIn(body).filter(({ action }) => action.includes('/end/'));

describe('the page', () => {
  test('leads to the sign-in without a session', async () => {
    const answer = await new PageVisitor(app.origin).get('/auth/account/sessions');
    expect(answer).toMatchObject({
      status: 303,
      location: '/auth/sign-in?return_to=%2Fauth%2Faccount%2Fsessions',
    });
  });

  test('lists this device first and marks it, and then the others, newest first', async () => {
    const at = new Date('2026-01-31T06:30:00Z');
    const { session } = await app.auth.getSession({ headers: { cookie: visitor.cookie } } as never);
    await app.auth.models.Session.update({ createdAt: at }, { where: { id: String(session?.id) } });
    await new PageVisitor(app.origin, { 'user-agent': IPHONE }).signIn();
    const { body } = await open();
    const items = [...body.matchAll(/<li data-part="item"(.*?)>(.*?)<\/li>/gs)].map(
      ([, attributes, item = '']) => ({ attributes, item }),
    );
    expect(items.map(({ item }) => /<strong>(.*?)<\/strong>/.exec(item)?.[1])).toEqual([
      'Firefox on Linux',
      'Safari on iOS',
      'curl',
    ]);
    expect(items.map(({ attributes }) => attributes)).toEqual([' data-current', '', '']);
    expect(items.map(({ item }) => item.includes('>this device<'))).toEqual([true, false, false]);
    // A computer, a phone and another program have different pictures.
    expect(new Set(items.map(({ item }) => /<svg.*<\/svg>/.exec(item)?.[0])).size).toBe(3);
    const [{ item: own = '' } = {}] = items;
    expect(own).toContain(
      'Signed in: <time datetime="2026-01-31T06:30:00.000Z" data-part="time">31 Jan 2026, 06:30 UTC</time>',
    );
    expect(own).toMatch(/Last active: <time datetime="[^"]*" data-part="time" data-ago>/);
    expect(own).toContain('IP address: 127.0.0.1');
    expect(own).not.toContain('<form');
  });

  test('leads to the browsers without a session', async () => {
    expect((await open()).body).toContain(
      '<a href="/auth/account/security#browsers">Browsers that you have used</a>',
    );
    expect((await visitor.get('/auth/account/security')).body).toContain('id="browsers"');
  });

  test('never shows what a client calls itself', async () => {
    const headers = { 'user-agent': `${HOSTILE}/1` };
    await new PageVisitor(app.origin, headers).signIn();
    await app.auth.models.Session.update({ ipAddress: HOSTILE }, { where: { userAgent: `${HOSTILE}/1` } });
    const page = await open();
    expect(page.body).toContain('<strong>An unknown device</strong>');
    // The address is shown as it is stored.
    expectEscaped(page);
  });
});

describe('ending', () => {
  test('one session', async () => {
    const page = await open();
    const [end, ...more] = endsIn(page.body);
    expect(more).toEqual([]);
    expect(end?.button).toMatch(/^Sign out on curl, signed in /);
    const done = await visitor.submit(page, String(end?.action));
    expect(done.location).toBe('/auth/account/sessions?done=session-ended');
    expect((await visitor.follow(done)).body).toContain('The session has ended.');
    expect(await isSignedIn(other)).toBe(false);
    expect(await isSignedIn(visitor)).toBe(true);
  });

  test('a session of another user is refused', async () => {
    await app.auth.credential.signUp(eve);
    const stranger = await new PageVisitor(app.origin).signIn(eve);
    const { session } = await app.auth.getSession({ headers: { cookie: stranger.cookie } } as never);
    const refused = await visitor.post(`/auth/account/sessions/end/${session?.id}`);
    expect(refused.status).toBe(404);
    expect(refused.body).toContain('role="alert"');
    expect(refused.type).toContain('text/html');
    expect(await isSignedIn(stranger)).toBe(true);
  });

  test('all others', async () => {
    const done = await visitor.submit(await open(), '/end-others');
    expect(done.location).toBe('/auth/account/sessions?done=other-sessions-ended');
    expect(await isSignedIn(other)).toBe(false);
    const { body } = await visitor.follow(done);
    expect(formsIn(body).map(({ action }) => action)).toEqual([]);
  });

  test('all: the sign-in says so, without the navigation of the account', async () => {
    const page = await open();
    expect(page.body).toContain('<nav');
    expect(page.body).toMatch(
      /<details><summary[^>]*><span data-part="opens">Sign out everywhere<\/span><span data-part="closes">Cancel<span data-part="unseen">: sign out everywhere<\/span><\/span><\/summary><h2>Sign out everywhere<\/h2>.*including here\..*\/end-all"/s,
    );
    const done = await visitor.submit(page, '/end-all');
    expect(done.location).toBe('/auth/sign-in?done=signed-out-everywhere');
    const { body } = await visitor.follow(done);
    expect(body).toContain('You are signed out everywhere.');
    expect(body).not.toContain('<nav');
    expect(body).not.toContain('/auth/sign-out');
    expect(await isSignedIn(visitor)).toBe(false);
    expect(await isSignedIn(other)).toBe(false);
  });

  test('only the form that was refused has its error', async () => {
    const rendered: SessionsValues[] = [];
    const render = (page: RenderedPage) => {
      if (page.name === 'account/sessions') rendered.push(page.values as never);
      return undefined;
    };
    const another = await startPages([password()], {}, { render });
    try {
      await another.app.auth.credential.signUp(ada);
      for (let count = 0; count < 2; count++) await new PageVisitor(another.app.origin).signIn();
      const one = await new PageVisitor(another.app.origin).signIn();
      const page = await one.get('/auth/account/sessions');
      const [{ action } = { action: '' }] = endsIn(page.body);
      expect((await one.post(action, { more: 'x' })).status).toBe(422);
      const forms = rendered.at(-1)?.sessions.flatMap(({ end }) => end ?? []);
      expect(forms?.map(({ errors }) => Object.keys(errors))).toEqual([['more'], []]);
    } finally {
      await another.app.stop();
    }
  });

  test('the address of a form leads to its page', async () => {
    const answer = await visitor.get('/auth/account/sessions/end/x');
    expect(answer).toMatchObject({ status: 303, location: '/auth/account/sessions' });
  });
});
