import * as z from 'zod';
import { SecondFactorSetup } from '../../accounts/second-factor.js';
import { readOptions, schemaOf } from '../../config/options.js';
import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import type { RightFactor } from '../../factors/attempts.js';
import type { Factors } from '../../factors/factors.js';
import { sinceOf } from '../../factors/status.js';
import { text } from '../../http/route.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import { withSecond } from '../../sessions/completion.js';
import type { Reauthentication, RequiredOption, StepMethod } from '../../sessions/second-factor.js';
import type { Condition } from '../../sessions/tasks.js';
import type { Session } from '../../tables/core.js';
import {
  recoveryCodesTable,
  secondFactorColumns,
  totpEnrolmentsTable,
  totpSecretsTable,
} from '../../tables/factors.js';
import type { ModelsOf } from '../../tables/model.js';
import type { RowReader } from '../../users/imported.js';
import type { UserRecord } from '../../users/record.js';
import { enrolmentOf, TwoFactorApi } from './api.js';
import { factorsOfRows } from './imported-factors.js';
import {
  confirmTotp,
  disableSecondFactor,
  enrollTotp,
  forgetTrustedDevices,
  readTwoFactor,
  renewRecoveryCodes,
  turnOffTotp,
  usePasskeys,
} from './routes.js';
import { twoFactorUndo } from './undo.js';

/** How browsers stand in for the second factor. */
export interface TrustDevicesOptions {
  /** For how many days, since the user last provided the second factor there: 1 to 90. @default none, required */
  days: number;
}

/** Options of {@link twoFactor}. */
export interface TwoFactorOptions {
  /**
   * The name of your service in authenticator apps: 1 to 64 characters, without a colon.
   * @default `appName` in the config, without colons; `latchkey` if neither it nor `baseUrl` is set
   */
  issuer?: string;
  /**
   * The ids of providers that require a second factor themselves. A sign-in with one of them requires no further
   * factor, and has aal 2.
   * @default []
   */
  trustProviders?: readonly string[];
  /**
   * The users who must have a second factor. They cannot use a session until they have provided a second factor or a
   * passkey in it:
   * - `'administrators'`: administrators, as `admin()` defines them
   * - `'everybody'`
   * - a function that returns whether a user must have one. It gets the user as guards return it, with the fields that
   *   users see. It must be synchronous. If it throws, the user must have a second factor
   *
   * Users without a second factor get sessions with the task `enroll_second_factor`.
   * @default 'never'
   */
  required?: RequiredOption;
  /**
   * Lets users trust the browser in which they provide the second factor. For some days, the password alone then signs
   * them in there, and the session has aal 1. Users who must have a second factor cannot trust a browser.
   * @default none: every sign-in asks for the second factor
   */
  trustDevices?: TrustDevicesOptions;
}

const TABLES = {
  TotpSecret: totpSecretsTable,
  TotpEnrolment: totpEnrolmentsTable,
  RecoveryCode: recoveryCodesTable,
} as const;

/** The models that {@link twoFactor} adds to `auth.models`. */
export interface TwoFactorModels extends ModelsOf<typeof TABLES> {}

const ISSUER = 'must be 1 to 64 visible characters, without a colon';
const PROVIDERS = "must be a list of providers' ids, such as ['okta']";

const REQUIRED =
  "must be 'never', 'administrators', 'everybody', or a function of a user that returns a boolean";
const condition = z.custom<Condition>((it) => typeof it === 'function', REQUIRED);

const DAYS = 'must be a whole number of days, 1 to 90';

/** @internal */
export const trustDevicesSchema = () =>
  schemaOf<TrustDevicesOptions>()({ days: z.int(DAYS).min(1, DAYS).max(90, DAYS) });

/** @internal */
export const schema = () =>
  schemaOf<TwoFactorOptions>()({
    issuer: z
      .string(ISSUER)
      .regex(/^(?=.*\S)[^:\p{C}]{1,64}$/u, ISSUER)
      .optional(),
    trustProviders: z.array(z.string(PROVIDERS), PROVIDERS).default([]),
    required: z
      .union([z.enum(['never', 'administrators', 'everybody']), condition], REQUIRED)
      .default('never'),
    trustDevices: trustDevicesSchema().optional(),
  });

/**
 * Adds a second factor to accounts: codes from an authenticator app (TOTP, RFC 6238), and recovery codes in case the
 * phone is lost.
 *
 * @throws TypeError on invalid options
 *
 * @example
 * const auth = createAuth({ …, appName: 'Example', plugins: [credentialPassword(), twoFactor()] });
 * const signedIn = await auth.credential.signIn({ credential, password });
 * if ('secondFactor' in signedIn) …
 */
export function twoFactor(
  options: TwoFactorOptions = {},
): Plugin<'twoFactor', TwoFactorApi, TwoFactorModels> {
  const { issuer, trustProviders, required, trustDevices } = readOptions('twoFactor', schema, options);
  return definePlugin({
    name: 'twoFactor',
    userColumns: secondFactorColumns,
    accounts: { secondFactors: { required, trustProviders, trustDays: trustDevices?.days ?? null } },
    setup(core, plugins) {
      checkProviders(trustProviders, plugins);
      const isManaged = plugins.some(({ name }) => name === 'admin');
      if (required === 'administrators' && !isManaged)
        throw new TypeError(
          "latchkey: twoFactor: required: 'administrators' requires administrators: add admin() to plugins",
        );
      const factors = factorsOf(core);
      const setup = new SecondFactorSetup(core, factors);
      const rules = core.secondFactors;
      const name = issuer ?? issuerOf(core);
      const api = new TwoFactorApi(core, factors, { setup, issuer: name });
      return {
        api,
        tables: TABLES,
        routes: () => [
          readTwoFactor(core, factors),
          enrollTotp(core, api),
          confirmTotp(core, api),
          turnOffTotp(api),
          renewRecoveryCodes(core, api),
          ...(trustDevices ? [forgetTrustedDevices(core)] : []),
          ...(core.passkeys ? [usePasskeys(core, api)] : []),
          ...(isManaged ? [disableSecondFactor(core, api)] : []),
        ],
        forPages: {
          async unconfirmed(user, sessionId) {
            const secret = await factors.enrolments.find(user.id, sessionId);
            return secret === null ? null : enrolmentOf(secret, name, user);
          },
        },
        shows: { session: ['aal', 'amr'] },
        tasks: rules.tasks,
        remembersBrowsers: rules.areRequired,
        // Someone who only knows a user's password must not be able to set up the user's second factor.
        ...(rules.areRequired && {
          codeInUnknownBrowsers: (user) => (rules.mustEnrol(user) ? 'always' : null),
        }),
        stepMethods: stepsOf(factors),
        reauthentications: reauthenticationsOf(core, factors),
        undo: twoFactorUndo(core, factors, setup),
        rowReaders: [factorsOfRows(core, factors, setup) as RowReader],
        signInMethods: {
          schema: { totp: z.boolean(), recovery_codes_left: z.int() },
          async of({ user }) {
            const { totp, recoveryCodesLeft } = await api.status(user.id);
            return { totp, recovery_codes_left: recoveryCodesLeft };
          },
        },
        async onFirstProof(userId, transaction, stays) {
          const record = await core.users.lock(userId, transaction);
          const since = (record && sinceOf(record.account)) ?? core.database.clock.date();
          if (!stays(since)) await setup.clear(userId, transaction);
        },
        // The database deletes these rows with the user, unless foreign keys are disabled, as they can be on SQLite.
        async onDelete(userId, transaction) {
          await setup.clear(userId, transaction);
          await factors.codes.deleteAll(userId, transaction);
        },
        expired: [factors.codes, factors.enrolments].map(({ expired }) => expired),
        sealed: [factors.secrets.sealed],
      };
    },
  });
}

function issuerOf({ settings: { appName } }: Core): string {
  // Authenticator apps split the label at its colon.
  const name = appName?.replace(/[\s:]+/g, ' ').trim();
  return name || 'latchkey';
}

/** @throws TypeError if one of the ids is not the id of a provider in `plugins` */
function checkProviders(ids: readonly string[], plugins: readonly Plugin[]): void {
  const known = new Set(plugins.flatMap((plugin) => ('provider' in plugin ? idOf(plugin.provider) : [])));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown === undefined) return;
  const names = [...known].join(', ') || 'none';
  throw new TypeError(
    `latchkey: twoFactor: trustProviders names '${unknown}', which is not a provider in plugins (${names}): use the provider's id`,
  );
}

function idOf(provider: unknown): string {
  return String((provider as { readonly id: unknown }).id);
}

function factorsOf({ factors }: Core): Factors {
  if (!factors) throw new TypeError('the core has no second factors');
  return factors;
}

/** Returns codes from the authenticator app and recovery codes as methods to complete a sign-in. */
function stepsOf({ checks, secrets, attempts }: Factors): StepMethod[] {
  return [
    {
      name: 'totp',
      canTrust: true,
      problems: [],
      attempt: ({ record, raw }, { code = '' }, complete) =>
        attempts.attempt(record.user, async () => complete(await checks.totp(secrets.joined(raw), code))),
    },
    {
      name: 'recovery_code',
      problems: [],
      attempt: ({ record: { user }, raw }, { code = '' }, complete) => {
        const wrongCodes = secrets.joined(raw)?.wrongCodes ?? 0;
        const look = async () => complete(await checks.recoveryCode(user, code, wrongCodes));
        return attempts.attempt(user, look, { isGuessable: false });
      },
    },
  ];
}

/** Returns the fields of POST /reauthenticate that prove the second factor. */
function reauthenticationsOf(core: Core, factors: Factors): Reauthentication[] {
  const { attempts, checks, secrets } = factors;
  const verify = async (
    record: UserRecord,
    { amr }: Session,
    isGuessable: boolean,
    look: () => Promise<RightFactor>,
  ) => {
    if (!core.secondFactors.isOn(record.account)) throw new AuthError('invalid_code');
    const use = async () => {
      const factor = await look();
      if (!(await factor.use())) throw new AuthError('invalid_code');
      return factor;
    };
    const right = await attempts.attempt(record.user, use, { isGuessable });
    return { aal: 2 as const, amr: withSecond(amr, right.amr) };
  };
  const common = { schema: text(100), problems: ['invalid_code', 'rate_limited'] as const };
  return [
    {
      ...common,
      field: 'code',
      verify: (record, code, session) =>
        verify(record, session, true, async () =>
          checks.totp(await secrets.find(record.user.id), String(code)),
        ),
    },
    {
      ...common,
      field: 'recovery_code',
      verify: (record, code, session) =>
        verify(record, session, false, () => checks.recoveryCode(record.user, String(code), 1)),
    },
  ];
}
