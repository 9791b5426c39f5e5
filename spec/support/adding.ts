import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SHIPPED_LANGUAGES } from '../../lib/languages/shipped.js';

/** A change of a file of the checkout. */
export interface Edit {
  readonly file: string;
  /** What {@link text} follows, or replaces. The file has it once. @default the file is new */
  readonly after?: string;
  readonly replace?: string;
  readonly text: string;
  /** The spec that fails without this edit. @default none: the feature does not compile or work without it */
  readonly gate?: string;
}

/** Something that is added, as contributing/architecture.md says. */
export interface Addition {
  /** The heading of its list of files. */
  readonly title: string;
  /** What `<name>` stands for in the list. */
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The commands that write files, by what they write. @default none */
  readonly writes?: Readonly<Record<string, string>>;
}

const CLIENT = { 'lib/client/generated': 'npm run client' };

/** The languages other than English. */
const TAGS = SHIPPED_LANGUAGES.filter((tag) => tag !== 'en');

/** The same change of the texts of each language. */
function translated(part: 'pages' | 'emails' | 'errors', edit: Omit<Edit, 'file'>): Edit[] {
  return TAGS.map((tag) => ({ file: `lib/languages/${tag}/${part}.ts`, ...edit }));
}

const SIGN_IN_METHOD: Addition = {
  title: 'A sign-in method',
  name: 'badges',
  writes: CLIENT,
  edits: [
    {
      file: 'lib/plugins/badges/declarations.ts',
      text: `import { declareProblems } from '../../errors.js';
import { column } from '../../tables/column.js';
import { users } from '../../tables/core.js';
import { defineWaiting } from '../../tables/waiting.js';

/** Badges that have not been used. */
export const badgesTable = defineWaiting({
  name: 'badges',
  hangsOn: 'epoch',
  lifetimeMs: 24 * 3600 * 1000,
  exported: 'Its rows are hashes, and expire within a day.',
  columns: { badgeHash: column.digest().internal() },
  foreignKeys: { userId: users },
});

const problems = declareProblems({
  invalid_badge: [401, 'The badge has expired, was used, or never existed. Ask for a new one.'],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}
`,
    },
    ...translated('errors', {
      after: '\n  problems: {',
      text: "    invalid_badge: '…',",
    }),
    {
      file: 'lib/plugins/badges/api.ts',
      text: `import type { Transaction } from 'sequelize';
import { BY_CODE, type Core } from '../../core/core.js';
import { createToken, digestToken, isWellFormedToken } from '../../crypto/token.js';
import { AuthError } from '../../errors.js';
import type { ClientInput, TransactionOption } from '../../sessions/request.js';
import type { IssuedSession, SignedIn, withSecondFactors } from '../../sessions/signed-in.js';
import type { UserRecord } from '../../users/record.js';
import { WaitingOfUsers } from '../../waiting/waiting.js';
import { badgesTable } from './declarations.js';

/** The input of \`auth.badges.signIn\`. */
export interface BadgeInput extends ClientInput {
  /** The badge that the user has entered. */
  badge: string;
}

const PREFIX = 'lkb_';

/** \`auth.badges\`: sign-ins with a badge, which the app issues and prints. */
export class BadgesApi<Outcome extends SignedIn = IssuedSession> {
  declare readonly [withSecondFactors]?: BadgesApi<SignedIn>;
  readonly #core: Core;
  readonly #badges: WaitingOfUsers<typeof badgesTable.columns>;

  /** @internal */
  constructor(core: Core) {
    this.#core = core;
    this.#badges = new WaitingOfUsers(core, badgesTable);
  }

  /**
   * Issues a badge, which works for a day and once.
   *
   * @throws AuthError \`user_not_found\` (404)
   */
  issue(userId: string, options: TransactionOption = {}): Promise<string> {
    return this.#core.call('auth.badges.issue', options, [], () =>
      this.#core.change(userId, BY_CODE, async ({ authEpoch }, transaction) => {
        const badge = createToken(PREFIX);
        await this.#badges.begin({ badgeHash: digestToken(badge), userId, authEpoch }, transaction);
        return badge;
      }),
    );
  }

  /**
   * Signs in with a badge.
   *
   * @throws AuthError \`invalid_badge\` (401), and the errors of account checks, such as \`account_suspended\` (403)
   */
  signIn(input: BadgeInput): Promise<Outcome> {
    return this.#core.callFor('auth.badges.signIn', input, ['badge'], async () => {
      const signIn = () => this.#signIn(String(input.badge));
      return (await this.#core.countSignIn('badge', signIn)) as Outcome;
    });
  }

  async #signIn(badge: string): Promise<SignedIn> {
    const found = isWellFormedToken(PREFIX, badge) ? await this.#badges.find(digestToken(badge)) : null;
    if (!found) throw new AuthError('invalid_badge');
    const checked = await this.#core.checkSignIn({ ...found.record, amr: ['otp'] });
    const signedIn = await this.#core.database.transaction(async (transaction) => {
      const record = await this.#badges.use(found, transaction);
      if (!record) throw new AuthError('invalid_badge');
      return checked.begin(record, transaction);
    });
    await checked.complete(signedIn);
    return signedIn;
  }
}

/** Whether a user has a badge. */
export async function hasBadge(core: Core, record: UserRecord, transaction?: Transaction): Promise<boolean> {
  const { row } = new WaitingOfUsers(core, badgesTable);
  const values = { userId: record.user.id, authEpoch: record.authEpoch, now: core.database.clock.date() };
  const rest = 'WHERE w.user_id = :userId AND w.auth_epoch = :authEpoch AND w.expires_at > :now';
  return (await row.select(rest, values, transaction)).length > 0;
}
`,
    },
    {
      file: 'lib/plugins/badges/routes.ts',
      text: `import * as z from 'zod';
import type { Core } from '../../core/core.js';
import { sessionReply, signInAnswer } from '../../http/present.js';
import { route, text } from '../../http/route.js';
import type { BadgesApi } from './api.js';

export const signInWithBadge = (core: Core, api: BadgesApi) =>
  route({
    method: 'post',
    path: '/signin/badge',
    client: 'badges.signIn',
    session: 'starts',
    summary: 'Sign in with a badge',
    access: 'public',
    body: z.strictObject({ badge: text(200) }),
    answers: { 200: signInAnswer(core, 'The user and the new session, whose token is set as a cookie') },
    problems: ['invalid_badge', 'rate_limited', ...core.signInProblems],
    async handle({ body: { badge } }) {
      await core.limiter.countAddress('signIn');
      return sessionReply(core, await api.signIn({ badge }));
    },
  });
`,
    },
    {
      file: 'lib/plugins/badges/index.ts',
      text: `import * as z from 'zod';
import { definePlugin, type Plugin } from '../../plugin.js';
import type { ModelsOf } from '../../tables/model.js';
import { BadgesApi, hasBadge } from './api.js';
import { badgesTable } from './declarations.js';
import { signInWithBadge } from './routes.js';

const TABLES = { Badge: badgesTable } as const;

/** The models that {@link badges} adds to \`auth.models\`. */
export interface BadgesModels extends ModelsOf<typeof TABLES> {}

/**
 * Adds sign-in with badges, which the app issues and prints.
 *
 * @example
 * const auth = createAuth({ …, plugins: [badges()] });
 * const badge = await auth.badges.issue(userId);
 */
export function badges(): Plugin<'badges', BadgesApi, BadgesModels> {
  return definePlugin({
    name: 'badges',
    setup(core) {
      const api = new BadgesApi(core);
      return {
        api,
        tables: TABLES,
        routes: () => [signInWithBadge(core, api)],
        waysIn: async (record, transaction) =>
          (await hasBadge(core, record, transaction)) ? [{ kind: 'badge' }] : [],
        signInMethods: {
          schema: { badge: z.boolean() },
          of: async (record) => ({ badge: await hasBadge(core, record) }),
        },
      };
    },
  });
}
`,
    },
    { file: 'lib/telemetry.ts', after: `  | 'email'`, text: `  | 'badge'` },
    {
      file: 'lib/index.ts',
      after: `export { type AuditLogModels, type AuditLogOptions, auditLog } from './plugins/audit-log/index.js';`,
      text: `export type { BadgeInput, BadgesApi } from './plugins/badges/api.js';
export { type BadgesModels, badges } from './plugins/badges/index.js';`,
    },
    {
      file: 'scripts/client/signatures.ts',
      gate: 'spec/client/generated.spec.ts',
      after: `  auditLog: ['AuditLogClient', 'The route of \`auditLog()\`, for administrators'],`,
      text: `  badges: ['BadgesClient', 'The route of \`badges()\`'],`,
    },
    {
      file: 'lib/client/client.ts',
      gate: 'spec/client/generated.spec.ts',
      after: `  /** The routes of \`auditLog()\`. */
  readonly auditLog: AuditLogClient;`,
      text: `  /** The routes of \`badges()\`. */
  readonly badges: BadgesClient<S>;`,
    },
    {
      file: 'lib/client/client.ts',
      gate: 'spec/client/generated.spec.ts',
      after: `  AuditLogClient,`,
      text: `  BadgesClient,`,
    },
    {
      file: 'docs/badges.md',
      gate: 'spec/every-plugin.spec.ts',
      text: `# badges()

Your app issues a badge, prints it, and gives it to the user, who signs in with it once.

| method, path | needs | request | response |
|---|---|---|---|
| POST \`/signin/badge\` | | \`badge\` | 200 \`{ user, session }\`, or \`{ second_factor }\` |
`,
    },
    {
      file: 'docs/README.md',
      gate: 'spec/docs.spec.ts',
      after: `| [audit-log.md](audit-log.md) | a table of events that administrators can read |`,
      text: `| [badges.md](badges.md) | sign-in with a badge that your app prints |`,
    },
    {
      file: 'docs/routes.md',
      gate: 'spec/docs.spec.ts',
      after: `| GET \`/api-keys\` | session | | 200 \`{ api_keys }\` |`,
      text: `| POST \`/signin/badge\` | only with \`badges()\` | \`badge\` | 200 \`{ user, session }\`, or \`{ second_factor }\` |`,
    },
    {
      file: 'docs/errors.md',
      gate: 'spec/docs.spec.ts',
      after: `| 401 | \`unauthenticated\` | the request contains no session |`,
      text: `| 401 | \`invalid_badge\` | the badge has expired, was used or never existed |`,
    },
    {
      file: 'docs/client.md',
      gate: 'spec/client/generated.spec.ts',
      after: `| \`client.auditLog\` | \`list\` |`,
      text: `| \`client.badges\` | \`signIn\` |`,
    },
    {
      file: 'docs/data-export.md',
      gate: 'spec/accounts/export-docs.spec.ts',
      after: `| \`oauth_flows\` | Its rows name no account, and expire within minutes. |`,
      text: `| \`badges\` | Its rows are hashes, and expire within a day. |`,
    },
    {
      file: 'contributing/asvs.md',
      gate: 'spec/asvs-page.spec.ts',
      replace: `\`passkey_challenges\`, \`removed_passkeys\`, \`carried_sessions\`, \`organization_invitations\` |`,
      text: `\`passkey_challenges\`, \`removed_passkeys\`, \`carried_sessions\`, \`organization_invitations\`, \`badges\` |`,
    },
    {
      file: 'docs/telemetry.md',
      gate: 'spec/docs.spec.ts',
      replace: `| \`latchkey.sign_in.method\` | \`password\`, \`provider\`, \`passkey\`, \`email\`;`,
      text: `| \`latchkey.sign_in.method\` | \`password\`, \`provider\`, \`passkey\`, \`email\`, \`badge\`;`,
    },
    {
      file: 'spec/plugins/badges/badges.spec.ts',
      gate: 'spec/every-plugin.spec.ts',
      text: `import { expect, test } from '@jest/globals';
import { badges } from '../../../lib/index.js';
import { startApp } from '../../support/app.js';

test('a badge signs in once', async () => {
  const app = await startApp({ plugins: [badges()] as const });
  const { id } = await app.auth.users.create({ email: 'ada@example.com' });
  const badge = await app.auth.badges.issue(id);
  const signIn = () => app.http.post('/auth/signin/badge').send({ badge });
  expect((await signIn().expect(200)).body.user.id).toBe(id);
  await signIn().expect(401);
  await app.stop();
});
`,
    },
    {
      // The other gates look only at plugins of this list.
      file: 'spec/support/every-plugin.ts',
      after: `  'audit-log': auditLog(),`,
      text: `  badges: badges(),`,
    },
    { file: 'spec/support/every-plugin.ts', after: `  auditLog,`, text: `  badges,` },
    {
      file: 'spec/support/ways-in-table.ts',
      gate: 'spec/ways-in.walk.spec.ts',
      after: `const FORMER = 'new_password_required';`,
      text: `
const byBadge =
  (signIn: (badge: string) => Promise<string>): Way =>
  async ({ id }) => {
    const badge = await app.auth.badges.issue(id);
    return { wrong: [() => signIn('no badge'), 'invalid_badge'], right: () => signIn(badge) };
  };

const ofBadges = {
  verifiedEmail: 'email_not_verified',
  suspension: 'invalid_badge',
  secondFactor: 'pending',
  limits: 'limited by signIn',
  deletion: 'invalid_badge',
  closure: 'invalid_badge',
  epoch: 'invalid_badge',
  unknownBrowser: NOT_A_PASSWORD,
  newPassword: 'invalid_badge',
  required: 'enrol',
} as const;`,
    },
    {
      file: 'spec/support/ways-in-table.ts',
      gate: 'spec/ways-in.walk.spec.ts',
      after: `export const PUBLIC_ROUTES: Readonly<Record<string, readonly Row[] | string>> = {`,
      text: `  'POST /signin/badge': [
    { way: byBadge((badge) => ways.post('/signin/badge', { badge })), ...ofBadges },
  ],`,
    },
    {
      file: 'spec/support/ways-in-table.ts',
      gate: 'spec/ways-in.walk.spec.ts',
      after: `export const OPERATIONS: Readonly<Record<string, readonly Row[]>> = {`,
      text: `  'badges.signIn': [
    { way: byBadge((badge) => called(app.auth.badges.signIn({ badge }))), ...ofBadges, limits: RANDOM },
  ],`,
    },
    {
      file: 'spec/support/ways-in-table.ts',
      gate: 'spec/ways-in.walk.spec.ts',
      after: `export const OTHER_OPERATIONS = \``,
      text: `  badges.issue`,
    },
    {
      file: 'spec/migrations/landed.spec.ts',
      gate: 'spec/migrations/landed.spec.ts',
      after: `const LANDED: Readonly<Record<string, Readonly<Record<string, string>>>> = {`,
      text: `  '0001-badges': { mysql: 'aed590659a39f097', postgres: '2505e8f8ced4185c', sqlite: '994027059fe6d3a4' },`,
    },
    {
      file: 'spec/accounts/undo-walk.db.walk.spec.ts',
      gate: 'spec/accounts/undo-walk.db.walk.spec.ts',
      after: `const REASONS: Readonly<Record<string, string>> = {`,
      text: `  'POST /signin/badge': SIGNS_IN,`,
    },
    {
      file: 'spec/plans.db.walk.spec.ts',
      gate: 'spec/plans.db.walk.spec.ts',
      after: `const ROUTES: Record<string, () => Promise<unknown>> = {`,
      text: `  'POST /signin/badge': async () => {
    const { id } = await app.auth.users.create({ email: 'badge@example.com' });
    const badge = await app.auth.badges.issue(id);
    await app.http.post('/auth/signin/badge').send({ badge }).expect(200);
  },`,
    },
    {
      file: 'spec/transactions.db.walk.spec.ts',
      gate: 'spec/transactions.db.walk.spec.ts',
      after: `const WRITING: Record<string, Prepare> = {`,
      text: `  async 'badges.issue'() {
    const { id } = await aUser();
    return (options) => auth.badges.issue(id, options);
  },
  async 'badges.signIn'() {
    const { id } = await aUser();
    const badge = await auth.badges.issue(id);
    return (options) => auth.badges.signIn({ badge, ...options });
  },`,
    },
    {
      file: 'spec/logs.walk.spec.ts',
      gate: 'spec/logs.walk.spec.ts',
      after: `  await call(browser, 'GET /passkeys');`,
      text: `  await call(app.browser(), 'POST /signin/badge', { badge: await app.auth.badges.issue(id) });`,
    },
    {
      file: 'spec/logs.walk.spec.ts',
      gate: 'spec/logs.walk.spec.ts',
      replace: `  const methods = ['password',`,
      text: `  const methods = ['badge', 'password',`,
    },
    {
      file: 'spec/http/form-values.express.spec.ts',
      gate: 'spec/http/form-values.express.spec.ts',
      replace: `const SECRET = \`
  password`,
      text: `const SECRET = \`
  badge password`,
    },
  ],
};

const ROUTE: Addition = {
  title: 'A route of a plugin',
  name: 'api-keys',
  writes: CLIENT,
  edits: [
    {
      file: 'lib/plugins/api-keys/routes.ts',
      after: `import type { ApiKeysApi } from './api.js';
import { apiKeyResource } from './carrier.js';
`,
      text: `export const renameApiKey = (api: ApiKeysApi) =>
  route({
    method: 'patch',
    path: '/api-keys/:id',
    client: 'apiKeys.rename',
    summary: "Rename one of the current user's API keys",
    access: 'session',
    body: z.strictObject({ name: text(200) }),
    answers: { 204: { description: 'The key has the name' } },
    problems: ['api_key_not_found'],
    async handle({ auth, params: { id = '' }, body: { name } }) {
      if (!(await api.rename(auth.user.id, id, name))) throw new AuthError('api_key_not_found');
      return { status: 204 };
    },
  });
`,
    },
    {
      file: 'lib/plugins/api-keys/api.ts',
      after: `  /** Lists a user's keys, newest first, including expired ones. */
  list(userId: string, options: TransactionOption = {}): Promise<ApiKey[]> {
    return this.#core.call('auth.apiKeys.list', options, [], () => this.#store.list(userId));
  }
`,
      text: `  /** Renames a key. @returns whether it existed @throws AuthError \`validation_failed\` (422) */
  rename(userId: string, apiKeyId: string, name: string, options: TransactionOption = {}): Promise<boolean> {
    return this.#core.call('auth.apiKeys.rename', options, [], async () => {
      await this.#core.database.ready();
      const checked = checkInput({ name }, this.#core.database.clock.now(), this.#scopes);
      return this.#store.rename(userId, apiKeyId, checked.name);
    });
  }
`,
    },
    {
      file: 'lib/plugins/api-keys/store.ts',
      after: `  /** Deletes a key. @returns whether it existed */
  async delete(userId: string, id: string, transaction?: Transaction): Promise<boolean> {
    return isUuid(userId) && isUuid(id) && (await this.#table.delete({ id, userId }, transaction)) > 0;
  }
`,
      text: `  /** Renames a key. @returns whether it existed */
  async rename(userId: string, id: string, name: string): Promise<boolean> {
    return isUuid(userId) && isUuid(id) && (await this.#table.update({ name }, { id, userId })) > 0;
  }
`,
    },
    {
      file: 'lib/plugins/api-keys/index.ts',
      replace: `import { createApiKey, listApiKeys, revokeApiKey } from './routes.js';`,
      text: `import { createApiKey, listApiKeys, renameApiKey, revokeApiKey } from './routes.js';`,
    },
    {
      file: 'lib/plugins/api-keys/index.ts',
      replace: `routes: () => [createApiKey(api, declared), listApiKeys(api), revokeApiKey(api)],`,
      text: `routes: () => [createApiKey(api, declared), listApiKeys(api), renameApiKey(api), revokeApiKey(api)],`,
    },
    {
      file: 'docs/routes.md',
      gate: 'spec/docs.spec.ts',
      after: `| DELETE \`/api-keys/:id\` | session | | 204 |`,
      text: `| PATCH \`/api-keys/:id\` | session | \`name\` | 204 |`,
    },
    {
      file: 'docs/client.md',
      gate: 'spec/client/generated.spec.ts',
      replace: `| \`client.apiKeys\` | \`create\`, \`list\`, \`revoke\` |`,
      text: `| \`client.apiKeys\` | \`create\`, \`list\`, \`rename\`, \`revoke\` |`,
    },
    {
      file: 'spec/http/recent.express.walk.spec.ts',
      gate: 'spec/http/recent.express.walk.spec.ts',
      after: `const NOTHING: Readonly<Record<string, string>> = {`,
      text: `  'PATCH /api-keys/:id': 'changes the name in a list',`,
    },
    {
      file: 'spec/sessions/second-factor-rules.spec.ts',
      gate: 'spec/sessions/second-factor-rules.spec.ts',
      after: `const EXEMPT: Readonly<Record<string, string>> = {`,
      text: `  'PATCH /api-keys/:id': 'changes the name in a list',`,
    },
    {
      file: 'spec/accounts/undo-walk.db.walk.spec.ts',
      gate: 'spec/accounts/undo-walk.db.walk.spec.ts',
      after: `  'DELETE /api-keys/:id': 'a revoked key stays revoked, which the docs say',`,
      text: `  'PATCH /api-keys/:id': OTHERS,`,
    },
    {
      file: 'spec/plans.db.walk.spec.ts',
      gate: 'spec/plans.db.walk.spec.ts',
      after: `    await browser.get('/auth/api-keys').expect(200);
  },`,
      text: `  'PATCH /api-keys/{id}': async () => {
    const { api_keys } = (await browser.get('/auth/api-keys').expect(200)).body;
    await browser.patch(\`/auth/api-keys/\${api_keys[0].id}\`).send({ name: 'renamed' }).expect(204);
  },`,
    },
    {
      file: 'spec/logs.walk.spec.ts',
      gate: 'spec/logs.walk.spec.ts',
      after: `  await call(one, 'GET /api-keys');`,
      text: `  await call(one, 'PATCH /api-keys/:id', { name: 'another' }, { id: api_key.id });`,
    },
    {
      file: 'spec/support/ways-in-table.ts',
      gate: 'spec/ways-in.walk.spec.ts',
      after: `  credential.signUp credential.removePassword`,
      text: ` apiKeys.rename`,
    },
    {
      file: 'spec/transactions.db.walk.spec.ts',
      gate: 'spec/transactions.db.walk.spec.ts',
      after: `    return (options) => auth.apiKeys.create(id, { name: 'a program', ...options });
  },`,
      text: `  async 'apiKeys.rename'() {
    const { id } = await aUser();
    const { apiKey } = await auth.apiKeys.create(id, { name: 'a program' });
    return (options) => auth.apiKeys.rename(id, apiKey.id, 'another name', options);
  },`,
    },
  ],
};

const TABLE: Addition = {
  title: 'A table of a plugin',
  name: 'suspension',
  edits: [
    {
      file: 'lib/plugins/suspension/declarations.ts',
      after: `const OWNER: Owner = { name: 'suspension' };
`,
      text: `/** The reasons that administrators choose from. */
export const suspensionReasonsTable = declareTable({
  name: 'suspension_reasons',
  exported: 'Its rows name no account.',
  columns: { id: column.uuid(), reason: column.text(255) },
});
`,
    },
    {
      file: 'lib/plugins/suspension/declarations.ts',
      after: `import { column, type RowOf } from '../../tables/column.js';`,
      text: `import { declareTable } from '../../tables/table.js';`,
    },
    {
      file: 'lib/plugins/suspension/index.ts',
      replace: `import { suspensionColumns } from './declarations.js';
import { reinstateUser, suspendUser } from './routes.js';
`,
      text: `import { suspensionReasonsTable, suspensionColumns } from './declarations.js';
import { reinstateUser, suspendUser } from './routes.js';

const TABLES = { SuspensionReason: suspensionReasonsTable } as const;

/** The models that {@link suspension} adds to \`auth.models\`. */
export interface SuspensionModels extends ModelsOf<typeof TABLES> {}
`,
    },
    {
      file: 'lib/plugins/suspension/index.ts',
      after: `import { definePlugin, type Plugin } from '../../plugin.js';`,
      text: `import type { ModelsOf } from '../../tables/model.js';`,
    },
    {
      file: 'lib/plugins/suspension/index.ts',
      after: `import { AuthError } from '../../errors.js';`,
      text: `import { createTable, dropTable } from '../../migrations/create.js';`,
    },
    {
      file: 'lib/plugins/suspension/index.ts',
      replace: `Plugin<'suspension', SuspensionApi, Record<never, never>>`,
      text: `Plugin<'suspension', SuspensionApi, SuspensionModels>`,
    },
    {
      file: 'lib/plugins/suspension/index.ts',
      replace: `        api,
        routes:`,
      text: `        api,
        tables: TABLES,
        migrations: [
          {
            name: '0002-suspension',
            up: (context) => createTable(suspensionReasonsTable, context),
            down: (context) => dropTable(suspensionReasonsTable, context),
          },
        ],
        routes:`,
    },
    {
      file: 'lib/index.ts',
      replace: `export { suspension } from './plugins/suspension/index.js';`,
      text: `export { type SuspensionModels, suspension } from './plugins/suspension/index.js';`,
    },
    {
      file: 'docs/data-export.md',
      gate: 'spec/accounts/export-docs.spec.ts',
      after: `| \`rate_limits\` | Its keys are hashes, so that it contains no personal data. |`,
      text: `| \`suspension_reasons\` | Its rows name no account. |`,
    },
    {
      file: 'contributing/asvs.md',
      gate: 'spec/asvs-page.spec.ts',
      replace: `| counters | \`rate_limits\` |`,
      text: `| counters and lists | \`rate_limits\`, \`suspension_reasons\` |`,
    },
    {
      file: 'spec/migrations/landed.spec.ts',
      gate: 'spec/migrations/landed.spec.ts',
      after: `  '0001-suspension': { mysql: '44c5bfcf91d2c900', postgres: '7efac92d23970450', sqlite: 'd4d180d6e6fac982' },`,
      text: `  '0002-suspension': { mysql: 'd8c8e39cf8ce05a6', postgres: '892d78ecef982a94', sqlite: '745694983cdaaa85' },`,
    },
  ],
};

const NOTICE: Addition = {
  title: 'A notice of a plugin',
  name: 'api-keys',
  edits: [
    {
      file: 'lib/plugins/api-keys/declarations.ts',
      replace: `declareNotices(OWNER, { 'api-key-created': {} });`,
      text: `declareNotices(OWNER, { 'api-key-created': {}, 'api-key-revoked': {} });`,
    },
    {
      file: 'lib/words/emails/notices.ts',
      after: `    lines: ['An API key was created. Programs that have it can act for you without signing in.'],
    about: 'API key',
  },`,
      text: `  'api-key-revoked': {
    subject: 'An API key of your account was revoked',
    lines: ['An API key was revoked. Programs can no longer use it.'],
  },`,
    },
    ...translated('emails', {
      replace: "    'api-key-created': {",
      text: `    'api-key-revoked': { subject: '…', lines: ['…'] },
    'api-key-created': {`,
    }),
    {
      file: 'lib/plugins/api-keys/api.ts',
      after: `      const revoked = await this.#store.delete(userId, apiKeyId, within);`,
      text: `      const user = revoked ? await this.#core.users.find(userId, within) : null;
      if (user) await this.#core.notices.plain(apiKeyNotices['api-key-revoked'], user, within);`,
    },
    {
      file: 'lib/words/pages/account.ts',
      gate: 'spec/pages/values.spec.ts',
      after: `    'api-key-created': 'An API key was created',`,
      text: `    'api-key-revoked': 'An API key was revoked',`,
    },
    ...translated('pages', {
      replace: "    'api-key-created': ",
      text: `    'api-key-revoked': '…',
    'api-key-created': `,
    }),
    {
      file: 'docs/notices-reference.md',
      gate: 'spec/docs.spec.ts',
      after: `| \`api-key-created\` | an [API key](api-keys.md) was created | it is removed. Keys that were revoked since stay revoked | owner |`,
      text: `| \`api-key-revoked\` | an API key was revoked | no link | |`,
    },
    {
      file: 'spec/notices/notices.spec.ts',
      gate: 'spec/notices/notices.spec.ts',
      after: `const ROWS: Record<NoticeKind, Row> = {`,
      text: `  'api-key-revoked': {
    async act(browser) {
      const { api_key } = (await browser.post('/auth/api-keys').send(WORK).expect(201)).body;
      await browser.delete(\`/auth/api-keys/\${api_key.id}\`).expect(204);
    },
    undo: false,
  },`,
    },
  ],
};

const OPTION: Addition = {
  title: 'An option of `session`',
  name: '',
  edits: [
    {
      file: 'lib/config/session.ts',
      after: `  /** The time after which any other session expires, even if it is in use. @default 86400 (24 hours) */
  shortLifetime?: number;`,
      text: `  /** Whether every session is remembered, even if the sign-in does not ask for it. @default false */
  alwaysRemembered?: boolean;`,
    },
    {
      file: 'lib/config/session.ts',
      after: `  shortLifetime: lifetime.default(24 * 3600),`,
      text: `  alwaysRemembered: flag.default(false),`,
    },
    {
      file: 'lib/sessions/sign-in.ts',
      replace: `            remembered,
            authenticatedAt: isByPerson`,
      text: `            remembered: remembered || this.core.settings.session.alwaysRemembered,
            authenticatedAt: isByPerson`,
    },
    {
      file: 'docs/configuration.md',
      gate: 'spec/config/options-documented.spec.ts',
      after: `| \`session.shortLifetime\` | any other session expires after this many seconds, even if it is in use | \`86400\` (24 hours) |`,
      text: `| \`session.alwaysRemembered\` | every session is remembered | \`false\` |`,
    },
  ],
};

const PAGE: Addition = {
  title: 'A page of `pages()`',
  name: 'devices',
  edits: [
    {
      file: 'lib/pages/account/devices.ts',
      text: `import { html } from '../../html.js';
import { type Page, page, type View } from '../page.js';
import type { Site } from '../site.js';
import { timeOf } from '../texts.js';
import type { CommonValues } from '../values.js';
import type { Words } from '../../words/pages/index.js';

/** The values of the page \`account/devices\`. */
export interface DeviceListValues {
  /** When the account was last used in each browser that it knows, in ISO 8601. */
  readonly lastSeenAt: readonly string[];
}

/** @internal */
export function devices(site: Site): Page {
  return page<DeviceListValues>({
    name: 'account/devices',
    path: '/account/devices',
    kind: 'account',
    access: 'session',
    inNavigation: true,
    forms: [],
    async values(visit) {
      const { devices: known } = await site.read(site.require('get /devices'), visit);
      return { lastSeenAt: known.map(({ last_seen_at }) => last_seen_at) };
    },
    view: devicesView,
  });
}

function devicesView({ lastSeenAt }: DeviceListValues & CommonValues, words: Words): View {
  const items = lastSeenAt.map((time) => html\`<li data-part="item">\${timeOf(time, words)}</li>\`);
  return {
    title: words.devices.title,
    main: html\`<section data-part="card"><ul data-part="list">\${items}</ul></section>\`,
  };
}

declare module '../values.js' {
  interface PageValues {
    'account/devices': DeviceListValues;
  }
}
`,
    },
    {
      file: 'lib/pages/pages.ts',
      after: `import { keys } from './account/api-keys.js';`,
      text: `import { devices } from './account/devices.js';`,
    },
    { file: 'lib/pages/pages.ts', after: `    sessions(site),`, text: `    devices(site),` },
    { file: 'lib/pages/options.ts', after: `  'account/sessions',`, text: `  'account/devices',` },
    {
      file: 'lib/words/pages/index.ts',
      gate: 'spec/pages/values.spec.ts',
      after: `    'account/sessions': 'Sessions',`,
      text: `    'account/devices': 'Browsers',`,
    },
    {
      file: 'lib/words/pages/account.ts',
      after: `    endAllText: 'You will be signed out everywhere, including here.',
  },`,
      text: `  devices: { title: 'Browsers' },`,
    },
    ...translated('pages', {
      replace: '\n  sessions: {',
      text: "\n  devices: { title: '…' },\n  sessions: {",
    }),
    ...translated('pages', {
      replace: "    'account/sessions': ",
      text: `    'account/devices': '…',
    'account/sessions': `,
    }),
    {
      file: 'lib/pages.ts',
      gate: 'spec/pages/values.spec.ts',
      after: `export type { ApiKeysValues, ApiKeyValues } from './pages/account/api-keys.js';`,
      text: `export type { DeviceListValues } from './pages/account/devices.js';`,
    },
    {
      file: 'docs/pages.md',
      gate: 'spec/pages/values.spec.ts',
      after: `| \`/account/sessions\` | the active sessions, and ending them | always |`,
      text: `| \`/account/devices\` | the browsers that the account knows | always |`,
    },
    {
      file: 'docs/pages.md',
      gate: 'spec/pages/values.spec.ts',
      after: `| \`account/sessions\` | \`SessionsValues\` | \`sessions\`, \`browsers\`, \`endOthers\`, \`endAll\` |`,
      text: `| \`account/devices\` | \`DeviceListValues\` | \`lastSeenAt\` |`,
    },
  ],
};

export const ADDITIONS: readonly Addition[] = [SIGN_IN_METHOD, ROUTE, TABLE, NOTICE, OPTION, PAGE];

/**
 * The tests of the gates that ask for rows. Null for a gate that is not tried on the copy, because it takes too long for
 * one row.
 */
export const GATES: Readonly<Record<string, string | null>> = {
  'spec/every-plugin.spec.ts': 'has a page in docs and specs of its own',
  'spec/docs.spec.ts': 'docs/.* lists every',
  'spec/client/generated.spec.ts': 'are members of the client|are named in docs/client.md',
  'spec/accounts/export-docs.spec.ts': 'the docs give the reason for each table',
  'spec/asvs-page.spec.ts': 'the classes of data name every table',
  'spec/migrations/landed.spec.ts': 'no landed migration has changed',
  'spec/http/recent.express.walk.spec.ts': 'declares what it asks for',
  'spec/http/form-values.express.spec.ts': 'says of each field of its form',
  'spec/sessions/second-factor-rules.spec.ts': 'is known of every route that changes something',
  'spec/accounts/undo-walk.db.walk.spec.ts': 'every route that changes something has a row',
  'spec/transactions.db.walk.spec.ts': 'every operation is known to write',
  'spec/ways-in.walk.spec.ts': 'have a row for every',
  'spec/notices/notices.spec.ts': 'there is a row for every kind',
  'spec/config/options-documented.spec.ts': 'every option is documented',
  'spec/pages/values.spec.ts': 'docs/pages.md|exports the types of all values|has words for',
  'spec/plans.db.walk.spec.ts': null,
  'spec/logs.walk.spec.ts': null,
};

/** Uses everything that was added, over HTTP, and prints what it got. */
export const APP = `import type { AddressInfo } from 'node:net';
import express from 'express';
import { admin, apiKeys, authRouter, badges, createAuth, credentialPassword, suspension } from './lib/index.js';
import { pages } from './lib/pages.js';

const mails: string[] = [];
const auth = createAuth({
  database: 'sqlite:./app.db',
  secret: 'a secret of an app, of 32 bytes and more',
  baseUrl: 'http://localhost',
  session: { alwaysRemembered: true },
  email: { send: ({ kind }) => void mails.push(kind) },
  plugins: [
    credentialPassword(),
    admin({ adminEmails: ['root@example.com'] }),
    apiKeys(),
    suspension(),
    badges(),
    pages(),
  ],
});
await auth.migrate();
const server = express().use('/auth', authRouter(auth)).listen(0);
const send = (method: string, path: string, headers: Record<string, string> = {}, body?: object) =>
  fetch(\`http://localhost:\${(server.address() as AddressInfo).port}/auth\${path}\`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });

const { id } = await auth.users.create({ email: 'ada@example.com', emailVerified: true });
const badge = await auth.badges.issue(id);
const signedIn = await send('POST', '/signin/badge', {}, { badge });
const cookies = signedIn.headers.getSetCookie();
const headers = { cookie: cookies.map((cookie) => cookie.split(';')[0]).join('; ') };
const { apiKey } = await auth.apiKeys.create(id, { name: 'a program' });
const renamed = await send('PATCH', \`/api-keys/\${apiKey.id}\`, headers, { name: 'another' });
const [listed] = await auth.apiKeys.list(id);
await send('DELETE', \`/api-keys/\${apiKey.id}\`, headers);
const page = await send('GET', '/account/devices', { ...headers, accept: 'text/html' });
const got = {
  badge: [signedIn.status, (await send('POST', '/signin/badge', {}, { badge })).status],
  isRemembered: cookies.some((cookie) => /^latchkey=.*; (Max-Age|Expires)=/i.test(cookie)),
  route: [renamed.status, listed?.name],
  rows: await auth.models.SuspensionReason.count(),
  page: [page.status, /<h1[^>]*>Browsers</.test(await page.text())],
};
await auth.outbox.deliver();
server.close();
await auth.close();
console.log(JSON.stringify({ ...got, notices: mails.filter((kind) => kind.startsWith('api-key')) }));
`;

/** Carries out edits in a copy of the checkout. */
export async function carryOut(folder: string, edits: readonly Edit[]): Promise<void> {
  for (const { file, after, replace, text } of edits) {
    const path = join(folder, file);
    const place = after ?? replace;
    if (place === undefined) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      continue;
    }
    const source = await readFile(path, 'utf8');
    const [before, rest, ...more] = source.split(place);
    if (rest === undefined || more.length > 0)
      throw new Error(`${file} must have this once, for spec/support/adding.ts:\n${place}`);
    await writeFile(path, `${before}${after === undefined ? '' : `${after}\n`}${text}${rest}`);
  }
}
