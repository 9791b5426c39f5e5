import { describe, expect, test } from '@jest/globals';
import {
  type AuthConfig,
  createAuth,
  type Language,
  type LocaleOptions,
  type Plugin,
} from '../../lib/index.js';
import { errors as de } from '../../lib/languages/de/errors.js';
import { pages as dePages } from '../../lib/languages/de/pages.js';
import { LOADERS } from '../../lib/languages/shipped.js';
import { pages } from '../../lib/pages.js';
import { ada, memoryLogger, password, SECRET, startApp } from '../support/app.js';
import { startPagesApp } from '../support/pages-app.js';

/** Creates an Auth with options of `locale`. */
const withLocale =
  (locale: unknown, plugins: readonly Plugin[] = [password(), pages()], config: Partial<AuthConfig> = {}) =>
  () =>
    createAuth({
      ...(config as Partial<AuthConfig<readonly Plugin[]>>),
      ...{ database: 'sqlite::memory:', secret: SECRET, logger: memoryLogger(), plugins },
      locale: locale as LocaleOptions,
    });
const german = (words: object) => ({ default: 'de', words: { de: words } });

describe('createAuth names what is wrong with', () => {
  test.each<[string, unknown, RegExp]>([
    ['a tag', { default: 'german!' }, /locale\.default must be a language tag such as de or pt-BR/],
    ['a tag that is not canonical', { default: 'DE' }, /locale\.default must be a language tag/],
    [
      'a language that there is not',
      { default: 'nl' },
      /locale\.default is nl, which latchkey does not have/,
    ],
    ['languages that are no list', { languages: 'de' }, /locale\.languages must be a list of languages/],
    ['no languages', { languages: [] }, /locale\.languages must not be empty/],
    ['an unknown language', { languages: ['en', 'nl'] }, /locale\.languages\[1\] must be one of en, de, fr,/],
    [
      'a language that is no language',
      { languages: ['en', { tag: 'x y' }] },
      /languages\[1\] must be one of/,
    ],
    [
      'a language twice',
      { languages: ['en', 'de', 'de'] },
      /languages\[2\] is de a second time: leave it out/,
    ],
    ['a default that is not there', { languages: ['de'] }, /default is en, which languages does not contain/],
    ['a function', { of: 'de' }, /locale\.of must be a function of a request and a user/],
    ['words of a language that is not there', { words: { de: {} } }, /locale\.words\.de is not one of the/],
    [
      'texts of one that is not there',
      { texts: { fr: {} } },
      /locale\.texts\.fr is not one of the languages/,
    ],
    ['words that are no object', { words: { en: 'a' } }, /locale\.words\.en/],
    ['a word of another type', { words: { en: { skip: 5 } } }, /must be a string, a function or a list of/],
    ['a text of another type', { texts: { en: { A: 5 } } }, /locale\.texts\.en.* must be a string/],
    [
      'an unknown option',
      { language: 'de' },
      /locale\.language is not an option .*did you mean locale\.languages\?/,
    ],
  ])('%s', (_what, locale, message) => {
    expect(withLocale(locale)).toThrow(TypeError);
    expect(withLocale(locale)).toThrow(message);
  });

  test.each<[string, object, string]>([
    [
      'a key of pages',
      { 'sign-in.titel': 'Willkommen' },
      "latchkey: locale.words.de['sign-in.titel'] is not a key (did you mean sign-in.title?): docs/languages.md says how keys are made",
    ],
    [
      'a key of emails',
      { 'email.texts.verify-email.subjekt': 'Hallo' },
      "latchkey: locale.words.de['email.texts.verify-email.subjekt'] is not a key (did you mean email.texts.verify-email.subject?): docs/languages.md says how keys are made",
    ],
    [
      'a key of errors',
      { 'error.problems.invalid_credential': 'Nein' },
      "latchkey: locale.words.de['error.problems.invalid_credential'] is not a key (did you mean error.problems.invalid_credentials?): docs/languages.md says how keys are made",
    ],
    [
      'a key of nothing',
      { qqq: 'Nein' },
      "latchkey: locale.words.de['qqq'] is not a key: docs/languages.md says how keys are made",
    ],
    [
      'a key in camel case',
      { 'signIn.title': 'Willkommen' },
      "latchkey: locale.words.de['signIn.title'] is not a key (did you mean sign-in.title?): docs/languages.md says how keys are made",
    ],
    [
      'a name of every object',
      { constructor: 'Nein' },
      "latchkey: locale.words.de['constructor'] is not a key (did you mean or?): docs/languages.md says how keys are made",
    ],
    [
      'a function for a string',
      { 'sign-in.title': () => 'Willkommen' },
      "latchkey: locale.words.de['sign-in.title'] must be a string, as in English",
    ],
    [
      'a list for a function',
      { 'error.phrases.too-short': ['kurz'] },
      "latchkey: locale.words.de['error.phrases.too-short'] must be a function, as in English",
    ],
    [
      'a string for a list',
      { 'email.texts.password-changed.lines': 'Neu.' },
      "latchkey: locale.words.de['email.texts.password-changed.lines'] must be a list of strings, as in English",
    ],
  ])('%s', (_what, words, message) => {
    expect(withLocale(german(words))).toThrow(new TypeError(message));
  });

  test('several words at once', () => {
    const words = { 'error.problems.nothing': 'a', 'error.problems.invalid_code': ['b'] };
    expect(withLocale(german(words))).toThrow(
      /nothing'\] is not a key.*; .*invalid_code'\] must be a string/,
    );
  });

  test('words of pages without pages()', () => {
    expect(withLocale(german({ 'sign-in.title': 'Willkommen' }), [password()])).toThrow(
      new TypeError(
        "latchkey: locale.words.de['sign-in.title'] is a key of pages(): add pages() to plugins, or start the key with email. or error.",
      ),
    );
  });

  test('a language of its own without words for pages()', async () => {
    const own = { ...(await partsOf('de')), tag: 'nl', pages: undefined };
    const locale = { default: 'nl', languages: [own] };
    expect(withLocale(locale)).toThrow(
      new TypeError('latchkey: locale.languages has nl, which has no words for pages(): set its pages'),
    );
    await withLocale(locale, [password()])().close();
  });

  test('a field of its own that is called locale', async () => {
    const config = { user: { fields: { locale: { type: 'string' } } } } as const;
    expect(withLocale({ languages: ['en', 'de'] }, [password()], config as never)).toThrow(
      /user\.fields\.locale is the name of a field that latchkey adds with more than one of locale\.languages/,
    );
    await withLocale({ default: 'de' }, [password()], config as never)().close();
  });
});

async function partsOf(tag: 'de' | 'en'): Promise<Omit<Language, 'tag'>> {
  const { pages, emails, errors } = LOADERS[tag];
  return { pages: await pages(), emails: await emails(), errors: await errors() };
}

test('own words stand in place of the words of pages, emails and errors, and all others stay', async () => {
  const app = await startPagesApp([password({ sendVerificationOnSignUp: true })], {
    config: {
      locale: {
        default: 'de',
        words: {
          de: {
            'sign-in.title-of': 'Willkommen zurück',
            'back-to': (appName: string) => `Heim zu ${appName}`,
            'forgot-password.sent-text': 'Post ist unterwegs.',
            'sign-out.question': 'Wirklich gehen?',
            'email.texts.verify-email.subject': 'Bitte bestätigen',
            'email.texts.verify-email.after': 'Danke.',
            'error.problems.invalid_credentials': 'Das war falsch.',
            'error.phrases.too-short': ({ minimum }: { minimum: number }) =>
              `braucht ${minimum} Zeichen oder mehr`,
            'error.phrases.required': 'fehlt noch',
          },
        },
      },
    },
  });
  const browser = app.open();
  const shown = await browser.open('/auth/sign-in');
  expect(shown.heading).toBe('Willkommen zurück');
  expect(shown.body).toContain(dePages.fields.password);
  expect((await browser.visit('/auth/forgot-password')).heading).toBe(dePages.forgotPassword.title);
  const asked = await browser.follow(await browser.post('/auth/forgot-password/send', { email: ada.email }));
  expect(asked.text).toContain('Post ist unterwegs.');

  const signUp = (body: object) => app.http.post('/auth/signup/credential').send(body);
  const mail = await app.mailOf(ada.email, 'verify-email', () => signUp(ada).expect(201));
  expect(mail.subject).toMatch(/^Bitte bestätigen\b/);
  expect(mail.text).toContain('Danke.');
  const short = await signUp({ email: 'grace@example.com', password: 'kurz' });
  expect(short.body.errors[0].detail).toBe('braucht 8 Zeichen oder mehr');
  expect((await signUp({ password: ada.password })).body.errors[0].detail).not.toBe('is missing');
  const wrong = await app.http
    .post('/auth/signin/credential')
    .send({ credential: ada.email, password: 'wrong' });
  expect(wrong.body.detail).toBe('Das war falsch.');
  expect((await app.http.get('/auth/me')).body.detail).toBe(de.problems.unauthenticated);
  await app.stop();
});

test('own words in English need no other language', async () => {
  const app = await startApp({
    config: { locale: { words: { en: { 'error.problems.unauthenticated': 'Who are you?' } } } },
  });
  const answer = await app.http.get('/auth/me').set('accept-language', 'de');
  expect(answer.body.detail).toBe('Who are you?');
  expect(answer.headers.vary ?? '').not.toMatch(/language/i);
  await app.stop();
});

test('a language of its own has the words, the name and the direction that the app gives it', async () => {
  const made = await partsOf('de');
  const own: Language = {
    ...made,
    ...{ tag: 'he', dir: 'rtl', name: 'עברית' },
    pages: { ...made.pages!, signIn: { ...made.pages!.signIn, titleOf: () => 'ברוכים הבאים' } },
    errors: {
      ...made.errors,
      problems: { ...made.errors.problems, unauthenticated: 'מי אתה?' },
    },
  };
  const app = await startPagesApp([password({ sendVerificationOnSignUp: true })], {
    config: { locale: { languages: ['en', own] } },
  });
  const shown = await app.open({ 'accept-language': 'he-IL' }).open('/auth/sign-in');
  expect(shown.heading).toBe('ברוכים הבאים');
  expect(shown.body).toMatch(/<html lang="he"[^>]* dir="rtl"/);
  const answer = await app.http.get('/auth/me').set('accept-language', 'he');
  expect(answer.body.detail).toBe('מי אתה?');
  const signUp = () => app.http.post('/auth/signup/credential').set('accept-language', 'he').send(ada);
  const mail = await app.mailOf(ada.email, 'verify-email', () => signUp().expect(201));
  expect(mail).toMatchObject({ language: 'he', html: expect.stringMatching(/<html lang="he" dir="rtl"/) });
  expect(JSON.stringify(app.auth.openapi())).toContain('"he"');
  await app.stop();
});

test('the texts of the app are in the language of the reader', async () => {
  const fields = {
    color: {
      type: 'string',
      label: 'Favorite color',
      hint: 'Of your bike.',
      enum: ['r'],
      labels: { r: 'Red' },
    },
  } as const;
  const app = await startPagesApp([password({ sendVerificationOnSignUp: true })], {
    config: {
      user: { fields } as never,
      email: { brand: { footer: 'The bike club' } } as never,
      locale: {
        languages: ['en', 'de'],
        texts: {
          de: {
            'Favorite color': 'Lieblings<farbe>',
            'Of your bike.': 'Deines Fahrrads.',
            'The bike club': 'Der Radverein',
          },
        },
      },
    },
  });
  const read = async (accepted: string) =>
    (await app.open({ 'accept-language': accepted }).open('/auth/sign-up')).text;
  expect(await read('de')).toContain('Lieblings<farbe>');
  expect(await read('de')).toContain('Deines Fahrrads.');
  expect(await read('de')).toContain('Red');
  expect(await read('en')).toContain('Favorite color');
  for (const [accepted, footer, other] of [
    ['de', 'Der Radverein', 'The bike club'],
    ['en', 'The bike club', 'Der Radverein'],
  ] as const) {
    const email = `${accepted}@example.com`;
    const mail = await app.mailOf(email, 'verify-email', () =>
      app.http
        .post('/auth/signup/credential')
        .set('accept-language', accepted)
        .send({ ...ada, email })
        .expect(201),
    );
    for (const form of [mail.text, mail.html]) {
      expect(form).toContain(footer);
      expect(form).not.toContain(other);
    }
  }
  await app.stop();
});
