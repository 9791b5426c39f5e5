import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../lib/auth.js';
import { AuthError, type AuthErrorCode, checkTogether, invalidField, phraseOf } from '../lib/errors.js';
import { validateWhole } from '../lib/http/body.js';
import { bodyOfForm } from '../lib/http/forms.js';
import { problemIn } from '../lib/http/problem-details.js';
import { inEnglish, type Phrases, phrases, say } from '../lib/phrases.js';
import { type ErrorWords, refusal } from '../lib/words/catalogue.js';
import { ada, password, type SpecApp, startApp } from './support/app.js';
import { everyPlugin } from './support/every-plugin.js';
import { fixedProvider } from './support/fixed-provider.js';
import { mailbox } from './support/mailbox.js';
import { sources } from './support/schemas.js';

/** A language that says the names of phrases and codes, and the values, so that no English sentence is overlooked. */
const made: ErrorWords = {
  phrases: Object.fromEntries(
    Object.entries(phrases).map(([name, said]) => [
      name,
      typeof said === 'string' ? `§${name}` : (values: object) => `§${name} ${JSON.stringify(values)}`,
    ]),
  ) as unknown as Phrases,
  refusal,
  problems: new Proxy({} as Record<AuthErrorCode, string>, { get: (_, code) => `§${String(code)}` }),
};

const fields = {
  plan: { type: 'string', required: true, enum: ['free', 'pro'] },
  initials: { type: 'string', pattern: /^[A-Z]+$/, minLength: 2, maxLength: 4 },
  nickname: { type: 'string', pattern: /^[a-z]+$/i },
  age: { type: 'integer', minimum: 18, maximum: 99 },
  level: { type: 'integer', enum: [1, 2] },
  weight: { type: 'number', minimum: 1, maximum: 500 },
  newsletter: { type: 'boolean' },
  seenAt: { type: 'date' },
  birthday: { type: 'plainDate' },
  settings: { type: 'json' },
} as const;

/** The operations that the specs call, with input of any type. */
interface Apis {
  readonly users: Readonly<Record<'create' | 'ensure', (input: object) => Promise<{ readonly id: string }>>>;
  readonly credential: Readonly<Record<'signUp' | 'signIn', (input: object) => Promise<unknown>>>;
  readonly apiKeys: { create(userId: string, input: object): Promise<unknown> };
  readonly organizations: { create(input: object): Promise<unknown> };
  readonly roles: { set(userId: string, roles: unknown): Promise<unknown> };
  readonly suspension: { suspend(userId: string, options: object): Promise<unknown> };
  readonly admin: {
    createUser(input: object): Promise<unknown>;
    revokeUserSession(userId: string, sessionId: string): Promise<unknown>;
  };
}

let app: SpecApp<readonly never[]>;
let api: Apis;
let userId: string;
beforeAll(async () => {
  const plugins = [
    ...everyPlugin({
      sendsEmails: true,
      password: {
        username: true,
        passwordRules: { words: ['engine'] },
        isBreached: async (given: string) => given === 'a breached password',
      } as never,
    }),
    fixedProvider(),
  ];
  const beforeCreateUser = ({ email }: { readonly email: string | null }) => {
    if (email === 'grace@example.com') throw new AuthError('sign_up_refused', { detail: 'Only staff.' });
    if (email === 'alan@example.com') throw invalidField('/email', 'not_staff', 'is not of our staff');
  };
  const baseUrl = 'https://app.example.com';
  const config = { baseUrl, user: { fields }, email: { send: mailbox().send }, hooks: { beforeCreateUser } };
  app = (await startApp({ plugins, config: config as never })) as never;
  api = app.auth as unknown as Apis;
  ({ id: userId } = await api.users.create({ ...ada, skipPasswordRules: true, fields: { plan: 'free' } }));
});
afterAll(() => app.stop());

async function errorOf(work: () => unknown): Promise<AuthError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof AuthError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

/** What an error says in the made-up language: its detail, or the details of its fields. */
function saidBy(error: AuthError): string | readonly string[] {
  const { detail, errors } = problemIn(error, made);
  return errors?.map((one) => `${one.pointer} ${one.detail}`) ?? detail;
}

const signUp = (input: object) => () =>
  api.credential.signUp({ ...ada, email: 'new@example.com', fields: { plan: 'free' }, ...input });

const withField = (name: string, value: unknown) => signUp({ fields: { plan: 'free', [name]: value } });

const nested = (levels: number): unknown => (levels === 1 ? 1 : [nested(levels - 1)]);

describe('an error in another language', () => {
  test.each<[string, () => unknown, string]>([
    ['names the form of an email', signUp({ email: 'ada' }), '/email §invalid-email'],
    ['rejects an email of other letters', signUp({ email: 'ädä@b.com' }), '/email §internationalized-email'],
    ['names the form of a username', signUp({ username: '!' }), '/username §invalid-username'],
    [
      'counts the characters that a password lacks',
      signUp({ password: 'short' }),
      '/password §too-short {"minimum":8,"unit":"characters"}',
    ],
    [
      'counts those that it has too many',
      signUp({ password: 'x'.repeat(300) }),
      '/password §too-long {"maximum":256,"unit":"characters"}',
    ],
    ['rejects a common password', signUp({ password: 'password1' }), '/password §password-too-common'],
    ['rejects words of the app', signUp({ password: 'engine 12' }), '/password §password-of-app-words'],
    ['rejects the own email', signUp({ password: 'new@example.com' }), '/password §password-is-email'],
    [
      'rejects the own username',
      signUp({ username: 'countess_ada', password: 'Countess_Ada' }),
      '/password §password-is-username',
    ],
    ['rejects a breached one', signUp({ password: 'a breached password' }), '/password §password-breached'],
    ['rejects a malformed one', signUp({ password: 'a\0 long one' }), '/password §malformed-text'],
    ['lists the choices', withField('plan', 'gold'), '/plan §not-one-of {"values":["free","pro"]}'],
    ['lists numbers', withField('level', 3), '/level §not-one-of {"values":[1,2]}'],
    ['is about a pattern', withField('initials', 'abc'), '/initials §outside-pattern'],
    ['is about a pattern with flags', withField('nickname', '123'), '/nickname §outside-pattern'],
    [
      'counts the characters that a field lacks',
      withField('initials', 'A'),
      '/initials §too-short {"minimum":2,"unit":"characters"}',
    ],
    [
      'counts those that a field has too many',
      withField('initials', 'ABCDE'),
      '/initials §too-long {"maximum":4,"unit":"characters"}',
    ],
    ['is about Unicode', withField('initials', 'A\ud800'), '/initials §malformed-text'],
    ['names the smallest number', withField('age', 17), '/age §too-small {"minimum":18}'],
    ['names the largest number', withField('weight', 501), '/weight §too-large {"maximum":500}'],
    ['names the type', withField('weight', 'x'), '/weight §wrong-type {"type":"number"}'],
    ['requires a whole number', withField('age', 18.5), '/age §wrong-type {"type":"int"}'],
    ['requires a boolean', withField('newsletter', 1), '/newsletter §wrong-type {"type":"boolean"}'],
    ['requires a date', withField('seenAt', 'today'), '/seen_at §not-a-date'],
    ['is about the year of a date', withField('seenAt', new Date(-1e14)), '/seen_at §outside-years'],
    ['requires a day', withField('birthday', 'today'), '/birthday §not-a-day'],
    ['is about the year of a day', withField('birthday', '0000-01-01'), '/birthday §outside-years'],
    ['counts levels', withField('settings', nested(40)), '/settings §json-too-deep {"maximum":32}'],
    ['counts KiB', withField('settings', 'x'.repeat(17_000)), '/settings §json-too-large {"maximum":16}'],
    ['requires JSON', withField('settings', () => 1), '/settings §not-json'],
    ['requires Unicode in JSON', withField('settings', 'a\0'), '/settings §malformed-text'],
    ['rejects a key', withField('settings', JSON.parse('{"__proto__":1}')), '/settings §json-proto'],
    ['rejects a field that does not exist', withField('role', 'x'), '/role §unknown-key'],
    ['asks the app for an identifier', () => api.users.ensure({}), '/email §pass-identifier'],
    [
      'asks an administrator for an identifier',
      () => api.admin.createUser({ fields: { plan: 'free' } }),
      '/email §user-without-identifier',
    ],
    ['requires roles', () => api.roles.set(userId, 'admin'), '/roles §not-roles'],
    [
      'lists the roles',
      () => api.roles.set(userId, ['owner']),
      '/roles/0 §not-one-of {"values":["admin","editor","reader"]}',
    ],
    [
      'is about the reason of a suspension',
      () => api.suspension.suspend(userId, { reason: 'x'.repeat(256) }),
      '/reason §reason-too-long {"maximum":255}',
    ],
    [
      'is about its end',
      () => api.suspension.suspend(userId, { until: new Date(0) }),
      '/until §not-in-future',
    ],
  ])('%s', async (_, work, said) => {
    const error = await errorOf(work);
    expect(saidBy(error)).toEqual([said]);
    expect(problemIn(error, made).detail).toBe('§validation_failed');
  });

  test('has every field', async () => {
    expect(saidBy(await errorOf(() => api.credential.signUp({})))).toEqual([
      '/email §required',
      '/password §required',
      '/plan §required',
    ]);
    const key = { name: '', scopes: ['"'], expiresAt: new Date(0) };
    expect(saidBy(await errorOf(() => api.apiKeys.create(userId, key)))).toEqual([
      '/name §invalid-name {"maximum":100}',
      '/scopes §invalid-scopes {"maximum":50}',
      '/expires_at §not-in-future',
    ]);
    const named = { ownerId: userId, name: '', slug: '-' };
    expect(saidBy(await errorOf(() => api.organizations.create(named)))).toEqual([
      '/name §invalid-name {"maximum":100}',
      '/slug §invalid-slug',
    ]);
  });

  test('depends on what accounts have', async () => {
    const either = await startApp({
      plugins: [password({ identifier: 'either', usernamePattern: /[a-z]+/ })],
    });
    const { credential } = either.auth;
    expect(saidBy(await errorOf(() => credential.signUp({} as never)))).toEqual([
      '/email §enter-identifier',
      '/username §enter-identifier',
      '/password §required',
    ]);
    expect(saidBy(await errorOf(() => credential.signUp({ ...ada, username: '1' })))).toEqual([
      '/username §username-not-allowed {"maximum":100}',
    ]);
    await either.stop();
    const plain = await startApp({ plugins: [password()] });
    expect(
      saidBy(await errorOf(() => plain.auth.credential.signUp({ ...ada, username: 'ada' } as never))),
    ).toEqual(['/username §username-not-accepted']);
    await plain.stop();
  });

  test('has the words of its code, or of its own detail', async () => {
    await api.credential.signUp({
      ...ada,
      email: 'b@example.com',
      username: 'babbage',
      fields: { plan: 'pro' },
    });
    expect(saidBy(await errorOf(signUp({ username: 'babbage' })))).toBe('§username_taken');
    const wrong = { credential: ada.email, password: 'a difference engine' };
    expect(saidBy(await errorOf(() => api.credential.signIn(wrong)))).toBe('§invalid_credentials');
    expect(saidBy(await errorOf(() => api.admin.revokeUserSession(userId, '1')))).toBe(
      '§no-such-session-of-user',
    );
  });

  test('keeps all other members', async () => {
    const error = new AuthError('proof_required', { missing: ['password'], retryAfter: 3 });
    expect(problemIn(error, made)).toEqual({ ...problemIn(error), detail: '§proof_required' });
    const invalid = invalidField('/name', 'required', say('required'));
    expect(problemIn(invalid, made)).toEqual({
      ...problemIn(invalid),
      detail: '§validation_failed',
      errors: [{ pointer: '/name', code: 'required', detail: '§required' }],
    });
  });

  test('keeps the details of hooks', async () => {
    expect(saidBy(await errorOf(signUp({ email: 'grace@example.com' })))).toBe('Only staff.');
    expect(saidBy(await errorOf(signUp({ email: 'alan@example.com' })))).toEqual([
      '/email is not of our staff',
    ]);
  });

  test('keeps a detail that the language does not have', () => {
    const part = { problems: {}, phrases: {} } as unknown as ErrorWords;
    const error = new AuthError('invalid_code', { detail: say('totp-locked') });
    expect(problemIn(error, part).detail).toBe(phrases['totp-locked']);
    expect(problemIn(new AuthError('invalid_code'), part).detail).toBe(new AuthError('invalid_code').detail);
    const { errors } = problemIn(invalidField('/name', 'required', say('required')), part);
    expect(errors).toEqual([{ pointer: '/name', code: 'required', detail: 'is missing' }]);
  });
});

describe('every route', () => {
  const values = [
    undefined,
    null,
    5,
    1.5,
    true,
    '',
    'x',
    'today',
    'x'.repeat(20_000),
    'a\0',
    'a\ud800',
    [],
    ['a\0'],
    Array.from({ length: 200 }, () => 'x'),
    {},
    { response: {} },
    { response: { transports: Array.from({ length: 50 }, () => 'internal') } },
  ];

  /** The bodies with which each field has each of the values, alone and together with a field that does not exist. */
  function* bodiesOf(names: readonly string[]): Generator<unknown> {
    yield* values;
    for (const value of values) {
      yield Object.fromEntries(names.map((name) => [name, value]));
      for (const name of names) yield { [name]: value, nonsense: 1 };
    }
  }

  test('rejects a body in the language', async () => {
    const english = new Set<string>();
    const seen = new Set<string>();
    for (const route of internalsOf(app.auth)
      .routes()
      .filter(({ body }) => body !== undefined)) {
      const names = namesOf(route.body);
      for (const body of bodiesOf(names)) {
        const error = await errorOf(() => validateWhole(body, route)).catch(() => null);
        for (const [index, one] of (error && problemIn(error, made).errors)?.entries() ?? []) {
          if (!one.detail.startsWith('§')) english.add(`${route.path} ${one.pointer} ${one.detail}`);
          seen.add(one.detail.replace(/ .*/, ''));
          expect(Object.keys(error?.errors?.[index] ?? {})).toEqual(['pointer', 'code', 'detail']);
        }
      }
    }
    expect([...english]).toEqual([]);
    expect([...seen]).toEqual(
      expect.arrayContaining([
        '§required',
        '§wrong-type',
        '§unknown-key',
        '§too-long',
        '§too-short',
        '§not-code-or-token',
        '§not-exactly-one',
        '§only-together',
        '§invalid-reason',
      ]),
    );
  });

  test('rejects a form in the language', async () => {
    const route = internalsOf(app.auth)
      .routes()
      .find(({ path }) => path === '/signup/credential');
    if (!route?.body) throw new Error('there is no sign-up');
    const { body } = route;
    const said = async (pairs: [string, unknown][]) => saidBy(await errorOf(() => bodyOfForm(pairs, body)));
    const twice: [string, unknown][] = [
      ['email', ada.email],
      ['email', ada.email],
    ];
    expect(await said(twice)).toEqual(['/email §sent-twice']);
    expect(await said([['email', {}]])).toEqual(['/email §not-single']);
    expect(await said([['checkboxes', 'email']])).toEqual(['/checkboxes §not-checkboxes']);
  });
});

/** The names of the fields of a schema, in all of its variants. */
function namesOf(schema: unknown): readonly string[] {
  const { shape, options = [] } = schema as { shape?: object; options?: readonly unknown[] };
  return [...new Set([...Object.keys(shape ?? {}), ...options.flatMap(namesOf)])];
}

describe('a phrase', () => {
  const phrase = say('too-short', { minimum: 8, unit: 'characters' });
  const english = 'must have at least 8 characters';

  test('is English in the error, in its message, as JSON, in a clone and in a log', () => {
    const error = invalidField('/password', 'too_short', phrase);
    const errors = [{ pointer: '/password', code: 'too_short', detail: english }];
    expect(error.message).toBe(`validation_failed: password ${english}`);
    expect(error.errors).toStrictEqual(errors);
    expect(structuredClone(error.errors)).toStrictEqual(errors);
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ errors });
    const plain = invalidField('/password', 'too_short', english);
    expect(JSON.stringify(error)).toBe(JSON.stringify(plain));
    const shown = ({ stack: _, ...own }: AuthError) => inspect({ ...own }, { depth: 5 });
    expect(shown(error)).toBe(shown(plain));
    const locked = new AuthError('invalid_code', { detail: say('totp-locked') });
    expect([locked.detail, locked.message]).toEqual([phrases['totp-locked'], phrases['totp-locked']]);
    expect(Object.keys(locked)).toEqual(Object.keys(new AuthError('invalid_code')));
  });

  test('is the error of the whole body if there is no field', () => {
    const error = new AuthError('validation_failed', { detail: say('account-incomplete') });
    expect(error.errors).toEqual([{ pointer: '', code: 'invalid', detail: phrases['account-incomplete'] }]);
    expect(saidBy(error)).toEqual([' §account-incomplete']);
    expect(saidBy(new AuthError('validation_failed'))).toEqual([' §invalid']);
  });

  test('stays with its field in an error that repeats it', async () => {
    const fail = (pointer: string) => () => {
      throw invalidField(pointer, 'too_short', phrase);
    };
    const error = await errorOf(() => checkTogether(fail('/one'), fail('/two')));
    const said = `§too-short ${JSON.stringify(phrase.values)}`;
    expect(saidBy(error)).toEqual([`/one ${said}`, `/two ${said}`]);
    expect(error.errors?.map(phraseOf)).toEqual([phrase, phrase]);
  });

  test('of another copy of the package is translated, and its error is one', async () => {
    const path = '../lib/errors.js?copy';
    const copy = (await import(path)) as typeof import('../lib/errors.js');
    expect(copy.AuthError).not.toBe(AuthError);
    const error = copy.invalidField('/password', 'too_short', phrase);
    expect(error).toBeInstanceOf(AuthError);
    expect(saidBy(error)).toEqual([`/password §too-short ${JSON.stringify(phrase.values)}`]);
    expect(saidBy(new copy.AuthError('rate_limited'))).toBe('§rate_limited');
    // Only the other copy knows this code.
    copy.declareProblems({ of_other_copy: [409, 'Only there.'] });
    const other = new copy.AuthError('of_other_copy' as never);
    expect(problemIn(other, made)).toMatchObject({ status: 409, detail: 'Only there.' });
  });

  test('of any other value is the value', () => {
    expect(inEnglish(undefined as never)).toBeUndefined();
    const error = new AuthError('validation_failed', { errors: [{ pointer: '/a', code: 'b' } as never] });
    expect(problemIn(error, made).errors).toEqual([{ pointer: '/a', code: 'b', detail: undefined }]);
  });
});

describe('the catalogue', () => {
  const others = [...sources].filter(([file]) => file !== 'phrases.ts');

  test('has no phrase that no error says', () => {
    const code = others.map(([, source]) => source).join('\n');
    const said = (name: string) => new RegExp(`say\\([^;]*'${name}'`).test(code);
    expect(Object.keys(phrases).filter((name) => !said(name))).toEqual([]);
  });

  test('has all details but those for the developers of programs', () => {
    const ofPrograms =
      /^(invalid_request|invalid_callback_url|insufficient_scope|unsupported_media_type|unauthenticated)$/;
    // The key `suspended` is of the rows of an import.
    const isOfRow = (text: string) => text.includes("'/suspended'");
    const isOfImports = (file: string) =>
      /^(cli|moving-in)\/|\/import(ed-[a-z]+)?\.ts$|^users\/(legacy-hashes|email-proof)\.ts$/.test(file);
    const details = others
      .filter(([file]) => !isOfImports(file))
      .flatMap(([file, source]) =>
        [...source.matchAll(/new AuthError\(\s*'(\w+)',\s*\{\s*detail:\s*['"`\w]+/g)]
          .filter(([text, code = '']) => !ofPrograms.test(code) && !text.endsWith('say'))
          .map(([text]) => `${file}: ${text}`),
      );
    const ofFields = others
      .filter(([file]) => !isOfImports(file))
      .flatMap(([file, source]) =>
        [...source.matchAll(/(?:invalidField\([^;]*?,\s*'\w+',\s*|code: '\w+', detail: )(['"`].{20})/g)]
          .filter(([text]) => !isOfRow(text))
          .map(([text]) => `${file}: ${text}`),
      );
    expect([...details, ...ofFields]).toEqual([]);
  });
});
