import * as z from 'zod';
import { readOptions } from '../../config/options.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import { PasskeysApi } from './api.js';
import { Assertions } from './assertions.js';
import { Challenges } from './challenges.js';
import { challengesTable, passkeysTable } from './declarations.js';
import { Enrolment } from './enrolment.js';
import { passkeysMigration } from './migrations.js';
import { optionsSchema, type PasskeysOptions } from './options.js';
import { relyingParty } from './relying-party.js';
import { registrationOptions } from './routes/options.js';
import { reauthenticationOptions } from './routes/reauthenticate-options.js';
import { signIn } from './routes/signin-passkey.js';
import { signInOptions } from './routes/signin-passkey-options.js';
import { addPasskey, listPasskeys, removePasskey, renamePasskey } from './routes.js';
import { factorMethod, reauthentication } from './second-factor.js';
import { PasskeyStore } from './store.js';
import { wayBack } from './undo.js';

const TABLES = { Passkey: passkeysTable, PasskeyChallenge: challengesTable } as const;

/**
 * Sign-in with passkeys (WebAuthn), which cannot be phished, and count as two factors. Needs `baseUrl` and the package
 * `@simplewebauthn/server`, which is loaded when it is first used.
 *
 * @throws TypeError on invalid options
 *
 * @example
 * const auth = createAuth({ …, baseUrl: 'https://app.example.com', plugins: [credentialPassword(), passkeys()] });
 */
export function passkeys(options: PasskeysOptions = {}): Plugin<'passkeys', PasskeysApi, typeof TABLES> {
  const given = readOptions('passkeys', optionsSchema, options);
  return definePlugin({
    name: 'passkeys',
    setup(core) {
      const store = new PasskeyStore(core);
      const challenges = new Challenges(core);
      const parts = { core, store, challenges, party: relyingParty(core.settings, given) };
      const assertions = new Assertions(parts);
      const api = new PasskeysApi(parts, new Enrolment(parts), assertions);
      return {
        api,
        routes: () => [
          registrationOptions(api),
          addPasskey(api),
          listPasskeys(api),
          renamePasskey(api),
          removePasskey(api),
          reauthenticationOptions(api),
          signInOptions(core, api),
          signIn(core, api),
        ],
        shows: { session: ['aal', 'amr'] },
        reauthentications: [reauthentication(assertions)],
        factorMethods: [factorMethod(parts, assertions)],
        wayBack: wayBack(parts),
        tables: TABLES,
        migrations: [passkeysMigration],
        signInMethods: {
          schema: { passkeys: z.int() },
          of: async ({ user }) => ({ passkeys: (await store.list(user.id)).length }),
        },
        waysIn: async ({ user }, transaction) =>
          (await store.rows(user.id, transaction)).map(({ id }) => ({ kind: 'passkey', id })),
        onFirstProof: async (userId, transaction) => {
          await store.deleteAll(userId, transaction);
          await challenges.deleteAll(userId, transaction);
        },
        onDelete: async (userId, transaction) => {
          await store.deleteAll(userId, transaction);
          await challenges.deleteAll(userId, transaction);
        },
        expired: [challenges.expired],
      };
    },
  });
}
