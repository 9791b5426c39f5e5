import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ada, password } from '../support/app.js';
import type { PageBrowser } from '../support/page-browser.js';
import { type PagesApp, signInOn, startPagesApp } from '../support/pages-app.js';
import { faultOf, OWN, TRUSTED } from '../support/return-to.js';

/** The test data of the URL Standard: https://github.com/web-platform-tests/wpt/blob/master/url/resources/urltestdata.json */
const CORPUS = process.env.LATCHKEY_SPEC_URLS;

interface Case {
  readonly input: string;
  readonly base: string;
}

(CORPUS ? describe : describe.skip)('the test data of the URL Standard, as return_to', () => {
  const plugins = [password()] as const;
  let app: PagesApp<typeof plugins>;
  let browser: PageBrowser;
  beforeAll(async () => {
    app = await startPagesApp(plugins, {
      config: { trustedOrigins: [TRUSTED], rateLimit: false },
      pages: { home: '/home', own: OWN },
    });
    await app.auth.users.create(ada);
    browser = app.open();
    await signInOn(browser, ada);
  });
  afterAll(() => app.stop());

  test('none leads off the origin, whatever stands before it', async () => {
    const cases = (JSON.parse(readFileSync(CORPUS ?? '', 'utf8')) as (Case | string)[]).filter(
      (one): one is Case => typeof one !== 'string',
    );
    expect(cases.length).toBeGreaterThan(600);
    const values = new Set(
      cases.flatMap(({ input, base }) => [input, `/${input}`, `${base}${input}`, `//${input}`]),
    );
    const faults: [value: string, fault: string][] = [];
    let leading = 0;
    for (const value of values) {
      const answer = await browser.open(
        `/auth/sign-in?return_to=${encodeURIComponent(value.toWellFormed())}`,
      );
      const to = answer.location ?? answer.links[0] ?? null;
      const fault = faultOf(to);
      if (fault !== null) faults.push([value, fault]);
      if (to !== '/home') leading++;
    }
    expect(faults).toEqual([]);
    // Paths of the app are not refused.
    expect(leading).toBeGreaterThan(100);
  });
});
