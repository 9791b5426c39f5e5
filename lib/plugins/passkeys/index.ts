import type { Transaction } from 'sequelize';
import * as z from 'zod';
import { secondFactorSetup } from '../../accounts/second-factor.js';
import { readOptions, schemaOf } from '../../config/options.js';
import type { Core } from '../../core/core.js';
import type { PasskeyStore } from '../../factors/passkeys.js';
import { sinceOf } from '../../factors/status.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import { challengerOf } from '../../sessions/pending-sign-ins.js';
import type { Reauthentication, StepMethod } from '../../sessions/second-factor.js';
import { passkeysTable, removedPasskeysTable } from '../../tables/factors.js';
import type { ModelsOf } from '../../tables/model.js';
import type { RowReader } from '../../users/imported.js';
import { AcceptedPasskeys } from './accepted.js';
import { PasskeysApi } from './api.js';
import { Assertions, assuranceOf, type PasskeyServices, reauthenticationIn } from './assertions.js';
import { Challenges } from './challenges.js';
import { challengesTable } from './declarations.js';
import { Enrolment } from './enrolment.js';
import { passkeysOfRows } from './imported-passkeys.js';
import { isAddress, relyingParty } from './relying-party.js';
import {
  addPasskey,
  listPasskeys,
  reauthenticationOptions,
  registrationOptions,
  removePasskey,
  renamePasskey,
  signIn,
  signInOptions,
  undoOptions,
} from './routes.js';
import { authenticationResponse, requestOptions } from './schemas.js';
import { PasskeysThen, undoRules } from './undo.js';
import type { PasskeyResponse } from './webauthn.js';

const TABLES = {
  Passkey: passkeysTable,
  PasskeyChallenge: challengesTable,
  RemovedPasskey: removedPasskeysTable,
} as const;

/** The models that {@link passkeys} adds to `auth.models`. */
export interface PasskeysModels extends ModelsOf<typeof TABLES> {}

/**
 * Adds sign-in with passkeys (WebAuthn), which cannot be phished and count as two factors. Requires `baseUrl` and the
 * package `@simplewebauthn/server`, which is loaded on first use.
 *
 * @throws TypeError on invalid options
 *
 * @example
 * const auth = createAuth({ …, baseUrl: 'https://app.example.com', plugins: [credentialPassword(), passkeys()] });
 */
export function passkeys(options: PasskeysOptions = {}): Plugin<'passkeys', PasskeysApi, PasskeysModels> {
  const { rpId, rpName } = readOptions('passkeys', optionsSchema, options);
  return definePlugin({
    name: 'passkeys',
    accounts: { passkeys: true },
    setup(core) {
      const store = storeOf(core);
      const challenges = new Challenges(core);
      const party = relyingParty(core.settings, rpId, rpName);
      const accepted = new AcceptedPasskeys(core, store, party);
      const setup = secondFactorSetup(core);
      const services = { core, store, challenges, party, accepted, setup };
      const assertions = new Assertions(services);
      const api = new PasskeysApi(services, new Enrolment(services), assertions);
      return {
        api,
        routes: () => [
          registrationOptions(api),
          addPasskey(core, api),
          listPasskeys(accepted),
          renamePasskey(api),
          removePasskey(core, api),
          reauthenticationOptions(api),
          signInOptions(core, api),
          signIn(core, api),
          ...(core.notices.isOn ? [undoOptions(core, new PasskeysThen(services))] : []),
        ],
        shows: { session: ['aal', 'amr'] },
        reauthentications: [reauthentication(assertions)],
        stepMethods: [stepOf(services, assertions)],
        undo: undoRules(services),
        rowReaders: [passkeysOfRows(services) as RowReader],
        tables: TABLES,
        signInMethods: {
          schema: { passkeys: z.int() },
          of: async ({ user }) => ({ passkeys: (await store.list(user.id)).length }),
        },
        waysIn: async ({ user }, transaction) =>
          (await store.rows(user.id, transaction)).map(({ id }) => ({ kind: 'passkey', id })),
        onFirstProof: async (userId, transaction, stays) => {
          const record = await core.users.lock(userId, transaction);
          const isFactor = record !== null && core.secondFactors.countsPasskeys(record.account);
          const oldest = isFactor ? (await store.rows(userId, transaction)).at(-1) : undefined;
          const since = isFactor ? (sinceOf(record.account) ?? oldest?.createdAt) : undefined;
          // Access to the mailbox alone must not remove a second factor.
          if (!since || !stays(since)) await store.deleteAll(userId, transaction);
          await challenges.deleteAll(userId, transaction);
        },
        onDelete: (userId, transaction) => store.forget(userId, transaction),
        expired: [store.expired],
      };
    },
  });
}

/** Options of {@link passkeys}. */
export interface PasskeysOptions {
  /**
   * The domain that passkeys are bound to (the Relying Party ID of WebAuthn Level 3): the host of `baseUrl`, or a
   * domain above it, whose other subdomains can use the passkeys too if they are `trustedOrigins`. If you change it,
   * existing passkeys stop working.
   * @default the host of `baseUrl`
   */
  rpId?: string;
  /** The name of the app that browsers and authenticators show: 1 to 64 characters. @default `appName` in the config */
  rpName?: string;
}

const DOMAIN = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const NOT_A_DOMAIN = 'must be a domain in lower case such as example.com, without scheme and port';

/** @internal */
export const optionsSchema = () =>
  schemaOf<PasskeysOptions>()({
    rpId: z
      .string(NOT_A_DOMAIN)
      .regex(DOMAIN, NOT_A_DOMAIN)
      .refine(
        (id) => !isAddress(id),
        'must be a domain such as example.com: passkeys cannot be bound to an IP address',
      )
      .optional(),
    rpName: z
      .string('must be the name of the app')
      .regex(/^\S(.{0,62}\S)?$/u, 'must be a name of 1 to 64 characters')
      .optional(),
  });

/** Returns the field `passkey` of POST /reauthenticate. */
export function reauthentication(assertions: Assertions): Reauthentication {
  return {
    field: 'passkey',
    schema: authenticationResponse(),
    problems: ['invalid_passkey'],
    async verify({ user }, response, { id: sessionId }) {
      const ceremony = reauthenticationIn(sessionId);
      const { passkey } = await assertions.verify(response as PasskeyResponse, ceremony, user.id);
      return assuranceOf(passkey);
    },
  };
}

/** Returns passkeys as a method to complete a sign-in. */
function stepOf({ core }: PasskeyServices, assertions: Assertions): StepMethod {
  const ceremonyOf = (pendingId: string) => ({ purpose: 'second-factor', binding: pendingId }) as const;
  return {
    name: 'passkey',
    canTrust: true,
    given: { response: authenticationResponse() },
    problems: ['invalid_passkey'],
    challenge: {
      schema: requestOptions(),
      async options(userId, pendingId) {
        await core.limiter.countAccount('passkeyOptions', userId);
        return { ...(await assertions.options(ceremonyOf(pendingId), userId)) };
      },
    },
    attempt(found, { response }, complete) {
      const { user } = found.record;
      const ceremony = ceremonyOf(challengerOf(found));
      const look = async () => {
        const { passkey } = await assertions.verify(response as PasskeyResponse, ceremony, user.id);
        const use = async (transaction?: Transaction) => {
          await core.secondFactors.forgive(user.id, transaction, found);
          return true;
        };
        return complete({ ...assuranceOf(passkey), use });
      };
      return core.secondFactors.attempt(user, look);
    },
  };
}

function storeOf({ passkeys }: Core): PasskeyStore {
  if (!passkeys) throw new TypeError('the core has no passkeys');
  return passkeys;
}
