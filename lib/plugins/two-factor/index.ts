import * as z from 'zod';
import { readOptions, schemaOf } from '../../config/options.js';
import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import { text } from '../../http/route.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import type { Reauthentication, SecondFactors } from '../../sessions/second-factor.js';
import type { Session } from '../../tables/core.js';
import type { ModelsOf } from '../../tables/model.js';
import type { RowPart } from '../../users/imported.js';
import type { UserRecord } from '../../users/record.js';
import { TwoFactorApi } from './api.js';
import {
  pendingSignInsTable,
  recoveryCodesTable,
  type SecondFactorOfUser,
  secondFactorColumns,
  totpEnrolmentsTable,
  totpSecretsTable,
} from './declarations.js';
import { factorsOfRows } from './imported-factors.js';
import { makeParts, type Parts } from './parts.js';
import { type RightFactor, withSecond } from './proofs.js';
import {
  completeSignIn,
  confirmTotp,
  disableSecondFactor,
  enrollTotp,
  readTwoFactor,
  renewRecoveryCodes,
  secondFactorOptions,
  turnOffTotp,
} from './routes.js';
import { twoFactorUndo } from './undo.js';

/** Options of {@link twoFactor}. */
export interface TwoFactorOptions {
  /**
   * The name of your service in authenticator apps: 1 to 64 characters, without a colon.
   * @default the host of `baseUrl`; without it, `latchkey`
   */
  issuer?: string;
  /**
   * The ids of providers that require a second factor themselves. A sign-in with one of them needs no further factor,
   * and has aal 2.
   * @default []
   */
  trustProviders?: readonly string[];
}

const TABLES = {
  TotpSecret: totpSecretsTable,
  TotpEnrolment: totpEnrolmentsTable,
  RecoveryCode: recoveryCodesTable,
  PendingSignIn: pendingSignInsTable,
} as const;

/** The models that {@link twoFactor} adds to `auth.models`. */
export interface TwoFactorModels extends ModelsOf<typeof TABLES> {}

const ISSUER = 'must be 1 to 64 visible characters, without a colon';
const PROVIDERS = "must be a list of providers' ids, such as ['okta']";

/** @internal */
export const schema = () =>
  schemaOf<TwoFactorOptions>()({
    issuer: z
      .string(ISSUER)
      .regex(/^(?=.*\S)[^:\p{C}]{1,64}$/u, ISSUER)
      .optional(),
    trustProviders: z.array(z.string(PROVIDERS), PROVIDERS).default([]),
  });

/**
 * Adds a second factor to accounts: codes from an authenticator app (TOTP, RFC 6238), and recovery codes in case the
 * phone is lost.
 *
 * @throws TypeError on invalid options
 *
 * @example
 * const auth = createAuth({ …, plugins: [credentialPassword(), twoFactor({ issuer: 'Example' })] });
 * const signedIn = await auth.credential.signIn({ credential, password });
 * if ('secondFactor' in signedIn) …
 */
export function twoFactor(
  options: TwoFactorOptions = {},
): Plugin<'twoFactor', TwoFactorApi, TwoFactorModels> {
  const { issuer, trustProviders } = readOptions('twoFactor', schema, options);
  return definePlugin({
    name: 'twoFactor',
    userColumns: secondFactorColumns,
    setup(core, plugins) {
      checkProviders(trustProviders, plugins);
      const parts = makeParts(core);
      const api = new TwoFactorApi(core, parts, issuer ?? hostOf(core));
      const isManaged = plugins.some(({ name }) => name === 'admin');
      return {
        api,
        tables: TABLES,
        routes: () => [
          readTwoFactor(api),
          enrollTotp(core, api),
          confirmTotp(core, api),
          turnOffTotp(api),
          renewRecoveryCodes(api),
          completeSignIn(core, api, parts.proofs.methods),
          ...parts.proofs.methods.slice(0, 1).map((method) => secondFactorOptions(core, api, method)),
          ...(isManaged ? [disableSecondFactor(core, api)] : []),
        ],
        shows: { session: ['aal', 'amr'] },
        secondFactors: secondFactorsOf(parts, trustProviders),
        reauthentications: reauthenticationsOf(core, parts),
        undo: twoFactorUndo(core, parts.secrets, parts.codes, parts.changes, parts.attempts),
        rowParts: [factorsOfRows(core, parts) as RowPart],
        signInMethods: {
          schema: { totp: z.boolean(), recovery_codes_left: z.int() },
          async of({ user }) {
            const { totp, recoveryCodesLeft } = await api.status(user.id);
            return { totp, recovery_codes_left: recoveryCodesLeft };
          },
        },
        // If the email was already verified, a reset must not remove the second factor, which alone lets no one sign
        // in.
        async onFirstProof(userId, transaction, wasVerified) {
          if (!wasVerified) await parts.changes.clear(userId, transaction);
        },
        // The database deletes these rows with the user, unless foreign keys are disabled, as they can be on SQLite.
        async onDelete(userId, transaction) {
          await parts.changes.clear(userId, transaction);
          await parts.codes.deleteAll(userId, transaction);
        },
        expired: [parts.codes, parts.enrolments, parts.pendings].map(({ expired }) => expired),
        sealed: [parts.secrets.sealed],
      };
    },
  });
}

function hostOf({ settings: { baseUrl } }: Core): string {
  return baseUrl === null ? 'latchkey' : new URL(baseUrl).hostname;
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

/**
 * Returns the second factors for the rules in `sessions/second-factor.ts`.
 *
 * @param trustProviders the ids of providers that require a second factor themselves
 */
function secondFactorsOf(
  { pendings, status, proofs, secrets }: Parts,
  trustProviders: readonly string[],
): SecondFactors {
  const trusted = new Set(trustProviders);
  const available = async (userId: string): Promise<string[]> => {
    const methods: string[] = [];
    for (const { name, isAvailable } of proofs.methods.map(bound))
      if (await isAvailable(userId)) methods.push(name);
    return methods;
  };
  return {
    isOn: (account) => ((account as Partial<SecondFactorOfUser>).secondFactorAt ?? null) !== null,
    trusted: (shown) =>
      shown.provider !== undefined && trusted.has(shown.provider)
        ? { provider: shown.provider, aal: 2, amr: ['fed', 'mfa'] }
        : null,
    async begin(pending, transaction) {
      const { id } = pending.record.user;
      const begun = await pendings.begin(pending, transaction);
      const found = await status.read(id, transaction);
      const methods = [
        ...(found && !found.isLocked ? ['totp'] : []),
        ...(found && found.codes > 0 ? ['recovery_code'] : []),
        ...(await available(id)),
      ];
      return { secondFactor: { methods, ...begun } };
    },
    abandon: () => pendings.abandon(),
    forgive: (userId) => secrets.forgive(userId),
  };
}

function bound(method: Parts['proofs']['methods'][number]) {
  return { name: method.name, isAvailable: method.isAvailable.bind(method) };
}

/** Returns the fields of POST /reauthenticate that prove the second factor. */
function reauthenticationsOf(core: Core, parts: Parts): Reauthentication[] {
  const { attempts, proofs, secrets } = parts;
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
          proofs.totp(await secrets.find(record.user.id), String(code)),
        ),
    },
    {
      ...common,
      field: 'recovery_code',
      verify: (record, code, session) =>
        verify(record, session, false, () => proofs.ownRecoveryCode(record, String(code))),
    },
  ];
}
