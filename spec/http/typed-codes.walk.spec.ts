import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { emailSignIn, passkeys, twoFactor } from '../../lib/index.js';
import { password, type SpecApp, signedIn, startApp } from '../support/app.js';
import { beforeChange } from '../support/changes.js';
import { proveMailbox } from '../support/email-proof.js';
import { mailbox } from '../support/mailbox.js';
import { codeOf, enroll, firstStep, forgetSteps, secondStep } from '../support/two-factor.js';

// People type codes on keyboards of many scripts, and paste them from mail programs that add invisible characters.
const plugins = [password({ unknownBrowser: 'code' }), twoFactor(), passkeys(), emailSignIn()] as const;

let app: SpecApp<typeof plugins>;
const mails = mailbox();
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: { baseUrl: 'http://app.example.com', email: { send: mails.send } },
  });
});
afterAll(() => app.stop());

const inDigitsFrom = (zero: number) => (code: string) =>
  code.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
/** Puts one of the characters in front of each character of the code, and the rest behind it. */
const among = (characters: string) => (code: string) => {
  const all = [...characters];
  const mixed = [...code].map((one, index) => `${all[index % all.length]}${one}`);
  return `${mixed.join('')}${all.slice(code.length).join('')}`;
};

const FORMS: Readonly<Record<string, (code: string) => string>> = {
  'as it is': (code) => code,
  'without its hyphens': (code) => code.replaceAll('-', ''),
  'in lower case': (code) => code.toLowerCase(),
  'in upper case': (code) => code.toUpperCase(),
  'in full-width characters': (code) =>
    code.replace(/[!-~]/g, (one) => String.fromCodePoint((one.codePointAt(0) ?? 0) + 0xfee0)),
  'in Arabic-Indic digits': inDigitsFrom(0x0660),
  'in Persian digits': inDigitsFrom(0x06f0),
  'in Devanagari digits': inDigitsFrom(0x0966),
  'in bold digits of mathematics': inDigitsFrom(0x1d7ce),
  'with spaces': among(' \t\n\u00a0\u2009\u202f\u3000'),
  'with dashes': among('-\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d\u30fc\uff70\u058a'),
  'with invisible characters': among('\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\ufe0f\u180e'),
  'with characters that set the direction': among('\u200e\u200f\u061c\u202a\u202c\u202e\u2066\u2067\u2069'),
};

let people = 0;
/** A user with a verified email, in a browser of theirs. */
async function person() {
  const who = { email: `person-${++people}@example.com`, password: 'an analytical engine' };
  const browser = await signedIn(app, who);
  const { id = '' } = (await app.auth.users.find({ email: who.email })) ?? {};
  await app.auth.markEmailVerified(id);
  return { ...who, id, browser };
}
async function withFactor() {
  const who = await person();
  const { secret, recoveryCodes } = await enroll(who.browser);
  await forgetSteps(app);
  const next = () => recoveryCodes.splice(0, 1)[0] ?? '';
  return { ...who, code: () => codeOf(secret), next };
}
const mailed = async (to: string, kind: string, work: () => PromiseLike<unknown>) =>
  (await mails.mailOf(to, kind, work)).code;

type Form = (code: string) => string;
/** Each sends a right code in a form. */
const PLACES: Readonly<Record<string, (form: Form) => Promise<{ status: number }>>> = {
  'POST /signin/second-factor totp': async (form) => {
    const who = await withFactor();
    const browser = app.browser();
    await firstStep(browser, who).expect(200);
    return secondStep(browser, { method: 'totp', code: form(who.code()) });
  },
  'POST /signin/second-factor recovery_code': async (form) => {
    const who = await withFactor();
    const browser = app.browser();
    await firstStep(browser, who).expect(200);
    return secondStep(browser, { method: 'recovery_code', code: form(who.next()) });
  },
  'POST /signin/second-factor email_code': async (form) => {
    const who = await person();
    const browser = app.browser();
    const code = await mailed(who.email, 'browser-code', () => firstStep(browser, who).expect(200));
    return secondStep(browser, { method: 'email_code', code: form(code) });
  },
  'POST /signin/email/confirm code': async (form) => {
    const { email } = await person();
    const browser = app.browser();
    const ask = () => browser.post('/auth/signin/email').send({ email }).expect(202);
    const code = await mailed(email, 'sign-in-code', ask);
    return browser.post('/auth/signin/email/confirm').send({ code: form(code) });
  },
  'POST /two-factor/totp/confirm code': async (form) => {
    const { browser } = await person();
    const { secret } = (await browser.post('/auth/two-factor/totp').expect(201)).body;
    return browser.post('/auth/two-factor/totp/confirm').send({ code: form(codeOf(secret)) });
  },
  'POST /reauthenticate code': async (form) => {
    const { browser, code } = await withFactor();
    return browser.post('/auth/reauthenticate').send({ code: form(code()) });
  },
  'POST /reauthenticate recovery_code': async (form) => {
    const { browser, next } = await withFactor();
    return browser.post('/auth/reauthenticate').send({ recovery_code: form(next()) });
  },
  'POST /reauthenticate email_code': async (form) => {
    const { email, id, browser } = await person();
    await app.auth.models.User.update({ passwordHash: null } as never, { where: { id } });
    const ask = () => browser.post('/auth/reauthenticate/email').send().expect(202);
    const code = await mailed(email, 'sign-in-code', ask);
    return browser.post('/auth/reauthenticate').send({ email_code: form(code) });
  },
  'POST /undo-change code': async (form) => {
    const { id, browser, password: secret, code } = await withFactor();
    await proveMailbox(app.auth, id);
    const token = await beforeChange(app.auth, id);
    return browser.post('/auth/undo-change').send({ token, password: secret, code: form(code()) });
  },
  'POST /undo-change recovery_code': async (form) => {
    const { id, browser, password: secret, next } = await withFactor();
    await proveMailbox(app.auth, id);
    const token = await beforeChange(app.auth, id);
    return browser.post('/auth/undo-change').send({ token, password: secret, recovery_code: form(next()) });
  },
};

describe.each(Object.entries(PLACES))('%s', (_place, send) => {
  test.each(Object.entries(FORMS))('accepts a code %s', async (_name, form) => {
    expect([200, 204]).toContain((await send(form)).status);
  });
});

test('are all places in which people enter codes', () => {
  const { paths, components } = app.auth.openapi();
  const schemas = components?.schemas as Readonly<Record<string, unknown>>;
  const places = Object.entries(paths).flatMap(([path, operations]) => {
    const json = JSON.stringify(operations, (key, value) =>
      // Only bodies of requests have schemas of their own with a name that ends like this.
      key === '$ref' && value.endsWith('Request') ? schemas[value.split('/').pop()] : value,
    );
    const fields = path === '/signin/second-factor' ? /"const":"(\w+)"/g : /"((?:\w+_)?code)":\{/g;
    return [...json.matchAll(fields)].map(([, name]) => `POST ${path} ${name}`);
  });
  const others = ['POST /signin/second-factor passkey'];
  expect([...new Set(places)].sort()).toEqual([...Object.keys(PLACES), ...others].sort());
});
