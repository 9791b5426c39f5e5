import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { SealedCookie } from '../../lib/pages/sealed-cookie.js';
import { password } from '../support/app.js';
import { type PagesApp, startPagesApp } from '../support/pages-app.js';

const plugins = [password()] as const;
const KINDS = ['once', 'press', 'note', 'email'];
let app: PagesApp<typeof plugins>;
beforeAll(async () => {
  app = await startPagesApp(plugins);
});
afterAll(() => app.stop());

describe('a sealed value', () => {
  test.each(KINDS)('of the kind %s opens in its context, and as no other kind', (kind) => {
    const cookieOf = (purpose: string) => new SealedCookie(internalsOf(app.auth).core, purpose, 60);
    const sealed = cookieOf(kind).seal('/page session', 'a value');
    const opened = KINDS.filter((other) => cookieOf(other).open('/page session', sealed) !== null);
    expect(opened).toEqual([kind]);
    expect(cookieOf(kind).open('/other session', sealed)).toBeNull();
  });
});
