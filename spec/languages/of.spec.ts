import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ada, logEveryLine, password } from '../support/app.js';
import { type PagesApp, signInOn, startPagesApp } from '../support/pages-app.js';

const plugins = [password()] as const;
let app: PagesApp<typeof plugins>;
/** The users whom the app's function was asked for. */
const asked: (string | null)[] = [];
let fails = false;
beforeAll(async () => {
  app = await startPagesApp(plugins, {
    config: {
      locale: {
        languages: ['en', 'de'],
        of(_req, user) {
          asked.push(user?.email ?? null);
          if (fails) throw new Error('the app has a fault');
          return 'de';
        },
      },
    },
  });
  await app.auth.users.create({ ...ada, emailVerified: true });
  logEveryLine(app.auth);
});
afterAll(() => app.stop());
beforeEach(() => {
  fails = false;
});

/** The requests for pages, by strangers and by a user. */
async function requests(): Promise<Record<string, () => Promise<unknown>>> {
  const browser = app.open();
  await signInOn(browser, ada);
  return {
    'a page': () => app.open().open('/auth/sign-in'),
    'a refused form': () => app.open().post('/auth/sign-in/password', { credential: 'a', password: 'b' }),
    'a page of an account': () => browser.open('/auth/account'),
    'a refused form of an account': () => browser.post('/auth/account/delete', { confirmation: 'no' }),
    'an error': () => app.open().open('/auth/me', { accept: 'application/json' }),
  };
}

test('a request for a page calls locale.of at most once for each user', async () => {
  for (const [what, send] of Object.entries(await requests())) {
    asked.length = 0;
    await send();
    expect([what, asked]).toEqual([what, [...new Set(asked)]]);
    expect([what, asked.length]).not.toEqual([what, 0]);
  }
});

test('if it throws, it is called and logged once for each request', async () => {
  const all = await requests();
  fails = true;
  for (const [what, send] of Object.entries(all)) {
    asked.length = 0;
    app.log.length = 0;
    await send();
    const lines = app.log.filter((line) => line.includes('locale.of threw'));
    expect([what, asked.length, lines.length]).toEqual([what, 1, 1]);
  }
});
