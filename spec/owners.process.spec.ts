import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Transaction } from 'sequelize';
import { internalsOf } from '../lib/auth.js';
import type { Core } from '../lib/core/core.js';
import { declareProblems, statusOf } from '../lib/errors.js';
import { route } from '../lib/http/route.js';
import { apiKeys, authRouter, createAuth, oauth, type Plugin, passkeys } from '../lib/index.js';
import { declaredLimits, declareLimits } from '../lib/limits/limiter.js';
import { declaredNotices, declareNotices, type NoticeTemplate } from '../lib/mail/notice-kinds.js';
import { declaredEvents, declareEvents } from '../lib/outbox/events.js';
import { Declarations, type Owner } from '../lib/owners.js';
import { definePlugin, type PluginSetup } from '../lib/plugin.js';
import type { UserRecord } from '../lib/users/record.js';
import { english } from '../lib/words/emails/index.js';
import { ada, password, SECRET } from './support/app.js';
import { rows } from './support/database.js';
import { everyPlugin } from './support/every-plugin.js';
import { fixedProvider } from './support/fixed-provider.js';
import { type MailApp, startMailApp } from './support/mail-app.js';

const TRIAL = { name: 'trial' } as const;

// A plugin of latchkey extends interfaces too. Here that would change the types of all specs.
const NOTICE = 'trial-done' as never;
const EVENT = 'trial.done' as never;
const LIMIT = 'trials' as never;
const trialNotices = declareNotices(TRIAL, { 'trial-done': {} } as never) as unknown as Record<
  string,
  NoticeTemplate
>;
Object.assign(english.texts, {
  'trial-done': { subject: 'Something was tried', lines: ['Something was tried with your account.'] },
});
declareEvents(TRIAL, { [EVENT]: {} });
declareLimits(TRIAL, { trials: { limit: 1, window: 60 } });

type Work = (core: Core, record: UserRecord, transaction: Transaction) => unknown;

/** A plugin of a maintainer, which changes an account. */
const trial = (parts: Partial<PluginSetup> = {}) =>
  definePlugin({
    name: TRIAL.name,
    setup: (core) => ({
      ...parts,
      api: {
        change: (userId: string, work: Work) =>
          core.database.transaction(async (transaction) => {
            const record = await core.users.lock(userId, transaction);
            if (!record) throw new Error('there is no such user');
            await core.userUpdates.update(record, { deletedAt: core.database.clock.date() }, transaction);
            await work(core, record, transaction);
          }),
        call: (work: (core: Core) => unknown) => work(core),
      },
    }),
  });

const create = (config: object, ...plugins: readonly Plugin[]) =>
  createAuth({ database: 'sqlite:x.db', secret: SECRET, baseUrl: 'https://a.example', plugins, ...config });

describe.each([true, false])('what nobody has declared, with emails: %s', (hasEmail) => {
  const plugins = [password({ sendVerificationOnSignUp: false }), trial()] as const;
  let app: MailApp<typeof plugins>;
  let userId: string;
  beforeEach(async () => {
    app = await startMailApp({ plugins, ...(!hasEmail && { config: { email: undefined as never } }) });
    userId = (await app.auth.credential.signUp(ada))?.user.id ?? '';
  });
  afterEach(() => app.stop());

  // No change may happen without the notice, event or limit that belongs to it, and none may be lost.
  const template = { kind: 'forgotten', subject: 'Forgotten', lines: ['Nobody has declared this.'] } as never;
  const event = 'trial.forgotten' as never;

  test.each<[string, Work]>([
    [
      'a notice of a change',
      ({ notices }, record, transaction) => notices.before(template, record, transaction),
    ],
    [
      'a notice with a link',
      ({ notices }, { user }, transaction) => notices.event(template, user, transaction),
    ],
    [
      'a notice without one',
      ({ notices }, { user }, transaction) => notices.plain(template, user, transaction),
    ],
    ['a notice for later', ({ notices }, { user }) => notices.unrecorded(template, user, [])],
    ['an event', ({ events }, _record, transaction) => events.emit(event, {} as never, transaction)],
    ['many events', ({ events }, _record, transaction) => events.emitAll(event, [], transaction)],
    ['an event to wait for', ({ events }) => events.emitAndWait(event, {} as never)],
    ['an event of a statement', ({ events }) => events.together([event], async () => undefined)],
    ['a pretended event', ({ events }) => events.pretended(event)],
    ['a limit by address', ({ limiter }) => limiter.countAddress('forgotten' as never)],
    ['a limit by account', ({ limiter }, { user }) => limiter.countAccount('forgotten' as never, user.id)],
  ])('%s throws, and the change is rolled back', async (_what, work) => {
    const change = app.auth.trial.change(userId, work);
    await expect(change).rejects.toThrow(TypeError);
    await expect(change).rejects.toThrow(/^latchkey: the \w+ '(trial\.)?forgotten' has not been declared/);
    expect(await rows(app.database, 'SELECT deleted_at FROM users')).toEqual([{ deleted_at: null }]);
    expect(await rows(app.database, 'SELECT id FROM account_changes')).toEqual([]);
  });

  test('a link for a purpose cannot be followed by code that compiles', async () => {
    const purpose = { name: 'forgotten', lifetimeMs: 60_000, endsWithPassword: true };
    await app.auth.trial.call(async ({ tokens }) => {
      const token = await tokens.issue(purpose, userId, ada.email);
      // @ts-expect-error: only `definePurpose` returns purposes, so that a new password ends their tokens.
      return tokens.find(purpose, token);
    });
  });
});

describe('a problem that nobody has declared', () => {
  const problems = ['forgotten'] as never[];
  const message = (where: string) =>
    new TypeError(
      `latchkey: ${where} has the problem 'forgotten', which has not been declared: its owner must declare it`,
    );

  test('throws when a router gets its route, which it names', () => {
    const forgetful = route({
      method: 'post',
      path: '/trial',
      summary: 'Try something',
      access: 'public',
      answers: { 204: { description: 'Done' } },
      problems,
      handle: async () => ({ status: 204 }),
    });
    const auth = create({}, trial({ routes: () => [forgetful] }));
    expect(() => authRouter(auth)).toThrow(message('POST /trial'));
    expect(() => auth.openapi()).toThrow(message('POST /trial'));
  });

  const schema = undefined as never;
  test.each<[string, Partial<PluginSetup>]>([
    ['checks of accounts', { accountProblems: problems }],
    ['carriers', { carriers: [{ via: 'trial', problems } as never] }],
    [
      'proofs',
      { reauthentications: [{ field: 'trial', schema, problems, verify: async () => null as never }] },
    ],
    ['second factors', { stepMethods: [{ name: 'trial', problems } as never] }],
  ])('throws at setup if %s of a plugin have it', (_what, parts) => {
    expect(() => create({}, trial(parts))).toThrow(message('the plugin trial'));
  });
});

test('a problem that is declared twice throws, unless it is the same', () => {
  const declare = (status: number, detail: string) => () =>
    declareProblems({ trial_failed: [status, detail] });
  declare(409, 'The trial failed.')();
  // A module that is loaded again.
  declare(409, 'The trial failed.')();
  expect(declare(404, 'There is no trial.')).toThrow(
    new TypeError(
      `latchkey: the error code 'trial_failed' is declared twice: as 409 "The trial failed." and as 404 "There is no trial."`,
    ),
  );
  expect(declare(409, 'Another detail.')).toThrow(TypeError);
  expect(declare(403, 'Not for you.')).toThrow(TypeError);
  expect(() => declareProblems({ user_not_found: [404, 'There is nobody.'] })).toThrow('user_not_found');
  expect(statusOf('trial_failed' as never)).toBe(409);
});

describe('a config that names what a plugin has that is not in it', () => {
  const email = { send: () => undefined };
  const url = 'https://b.example/webhooks';
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const missing = (where: string, what: string, call: string) =>
    `${where} contains the ${what} of ${call}: add ${call} to plugins, or leave ${/'.*'/.exec(what)} out`;

  test.each<[object, string]>([
    [
      { email: { ...email, notices: ['password-changed', 'passkey-added'] } },
      missing('email.notices', "notice 'passkey-added'", 'passkeys()'),
    ],
    [
      { webhooks: [{ url, secret, events: ['user.created', 'api_key.created'] }] },
      missing('webhooks', "event 'api_key.created'", 'apiKeys()'),
    ],
  ])('%j throws and says which plugin to add', (config, message) => {
    const open = () => create(config, password());
    expect(open).toThrow(TypeError);
    expect(open).toThrow(new TypeError(`latchkey: ${message}`));
    create(config, password(), passkeys(), apiKeys(), oauth(), fixedProvider());
  });

  test('throws with every mistake at once, and each plugin as it is called', () => {
    const notices = ['api-key-created', 'provider-linked', 'second-factor-enabled'] as const;
    const events = ['admin.user_created', 'user.suspended', 'user.deleted', 'admin.user_created'];
    const two = [
      { url, secret, events },
      { url: `${url}/2`, secret, events },
    ];
    expect(() => create({ email: { ...email, notices }, webhooks: two })).toThrow(
      new TypeError(
        `latchkey: ${[
          missing('email.notices', "notice 'api-key-created'", 'apiKeys()'),
          missing('email.notices', "notice 'provider-linked'", 'oauth()'),
          missing('email.notices', "notice 'second-factor-enabled'", 'twoFactor()'),
          missing('webhooks', "event 'admin.user_created'", 'admin()'),
          missing('webhooks', "event 'user.suspended'", 'suspension()'),
        ].join('; ')}`,
      ),
    );
  });

  test('does not throw for what belongs to the core', () => {
    const notices = ['account-deleted', 'email-changed', 'new-device', 'username-changed'];
    const rule = { limit: 1, window: 1 };
    const rateLimit = { signIn: rule, signUp: rule, mail: false };
    const webhooks = [{ url, secret, events: ['user.created', 'account.recovered', 'user.restored'] }];
    create({
      email: { ...email, notices },
      rateLimit,
      webhooks,
    });
  });

  test('says of an unknown name what there is', () => {
    const known = declaredNotices.names.map((kind) => `"${kind}"`).join('|');
    expect(() => create({ email: { ...email, notices: ['passkey-aded'] } })).toThrow(
      new TypeError(`latchkey: email.notices[0] Invalid option: expected one of ${known}`),
    );
    expect(() => create({ webhooks: [{ url, secret, events: ['passkey.aded'] }] })).toThrow(
      /^latchkey: webhooks: there is no event 'passkey\.aded'; listen to one of .*passkey\.added/,
    );
  });

  test('leaves listeners alone: an event of a plugin that is not there never happens', () => {
    expect(create({}).on('passkey.added', () => undefined)).toBeInstanceOf(Function);
  });
});

describe('what the trial plugin declares', () => {
  const plugins = [password({ sendVerificationOnSignUp: false }), trial()] as const;

  test.each<[string, boolean | readonly string[], boolean]>([
    ['true', true, true],
    ['a list of it', ['trial-done'], true],
    ['a list of others', ['password-changed'], false],
    ['false', false, false],
  ])('is enough to use it; with notices: %s, the notice goes out or not', async (_what, notices, isSent) => {
    const app = await startMailApp({ plugins, config: { email: { notices }, rateLimit: {} } as never });
    const userId = (await app.auth.credential.signUp(ada))?.user.id ?? '';
    const heard: unknown[] = [];
    app.auth.on(EVENT, (event) => heard.push(event));
    const change = async () => {
      await app.auth.trial.call(({ limiter }) => limiter.countAccount(LIMIT, userId));
      await app.auth.trial.change(userId, async ({ notices, events }, record, transaction) => {
        await notices.before(trialNotices['trial-done']!, record, transaction);
        events.emit(EVENT, { userId } as never, transaction);
      });
    };
    if (isSent) {
      const { subject, text, token } = await app.mailOf(change, NOTICE);
      expect(subject).toBe('Something was tried - app.example.com');
      expect(text).toContain(token);
    } else await app.noMailOf(change, NOTICE);
    expect(heard).toEqual([expect.objectContaining({ userId })]);
    await expect(change()).rejects.toMatchObject({
      code: 'rate_limited',
      headers: { 'RateLimit-Policy': '"trials";q=1;w=60' },
    });
    await app.stop();
  });

  test('is not chosen by an app without the plugin', () => {
    const { core } = internalsOf(create({ email: { send: () => undefined } }, password()));
    expect(core.settings.email?.notices).toContain('password-set');
    expect(core.settings.email?.notices).not.toContain('trial-done');
    expect(core.settings.email?.notices).not.toContain('passkey-added');
    const listed = { send: () => undefined, notices: ['trial-done'] };
    expect(() => create({ email: listed }, password())).toThrow('add trial() to plugins');
  });

  test('has no other owner', () => {
    const declarations = new Declarations<{ limit: number }>('thing');
    declarations.add(TRIAL, 'one', { limit: 1 });
    // A module that is loaded again.
    declarations.add({ ...TRIAL }, 'one', { limit: 1 });
    const twice =
      (owner: Owner | null, value = { limit: 1 }) =>
      () =>
        declarations.add(owner, 'one', value);
    expect(twice(null)).toThrow(
      new TypeError("latchkey: the thing 'one' is declared twice: by trial() and by the core"),
    );
    expect(twice({ name: 'other' })).toThrow(TypeError);
    expect(twice(TRIAL, { limit: 2 })).toThrow(TypeError);
    expect(declarations.get('one')).toEqual({ limit: 1 });
  });
});

describe('everything that latchkey uses is declared', () => {
  const all = () => [...everyPlugin({ sendsEmails: true }), fixedProvider()];
  const lib = fileURLToPath(new URL('../lib', import.meta.url));
  const sources = readdirSync(lib, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(`${lib}/${path}`, 'utf8'));
  /** The names that follow what the pattern matches, anywhere in lib. */
  const named = (pattern: RegExp) => {
    const all = sources.flatMap((source) => [...source.matchAll(pattern)].map(([, name = '']) => name));
    return [...new Set(all)].sort();
  };

  test('the problems of every route', () => {
    const auth = create({ email: { send: () => undefined } }, ...all());
    const routes = internalsOf(auth).routes();
    expect(routes.length).toBeGreaterThan(50);
    const codes = routes.flatMap(({ problems = [] }) => problems);
    expect(codes.length).toBeGreaterThan(50);
    for (const code of codes) expect(statusOf(code)).toBeGreaterThan(399);
  });

  test('every event that is emitted, and no other', () => {
    const own = declaredEvents.names.filter((name) => name !== EVENT);
    expect(named(/\b(?:emit|emitAll|emitAndWait)\(\s*'([^']+)'/g)).toEqual(own.sort());
    const stored = named(/\b(?:together|pretended)\(\s*\[?((?:'[^']+'(?:, )?)+)/g);
    const names = stored.flatMap((list) => [...list.matchAll(/'([^']+)'/g)].map(([, name]) => name));
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name) => !declaredEvents.has(name))).toEqual([]);
  });

  test('every limit that is counted, and no other', () => {
    const counted = named(/\b(?:count(?:Address|Account|Success)\(|STRANGERS = )'(\w+)'/g);
    const own = declaredLimits.names.filter((name) => name !== LIMIT);
    expect(counted).toEqual(own.sort());
  });

  test('every notice that is sent, and no other', () => {
    const sent = named(/Notices\['([a-z-]+)'\]/g);
    const own = declaredNotices.names.filter((name) => name !== NOTICE);
    expect(sent).toEqual(own.sort());
  });

  test('by the core, or by a plugin under the name that it has in the config', () => {
    const plugins = new Set([...all().map(({ name }) => name), TRIAL.name]);
    for (const declarations of [declaredEvents, declaredNotices, declaredLimits]) {
      expect(declarations.namesOf(plugins)).toEqual(declarations.names);
      expect(declarations.namesOf(new Set()).length).toBeLessThan(declarations.names.length);
    }
  });
});
