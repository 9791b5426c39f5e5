import { internalsOf } from '../../lib/auth.js';
import type { Core } from '../../lib/core/core.js';
import type { Route } from '../../lib/http/route.js';
import { altcha } from '../../lib/human-check.js';
import {
  type AuthConfig,
  admin,
  createAuth,
  credentialPassword,
  emailSignIn,
  type Plugin,
  passkeys,
  twoFactor,
} from '../../lib/index.js';
import { everyPlugin } from '../../spec/support/every-plugin.js';
import { fixedProvider } from '../../spec/support/fixed-provider.js';

/** The routes of an Auth. */
export interface Server {
  readonly core: Core;
  readonly routes: readonly Route[];
}

/** The names in JSON of the fields that stand for those of an app. */
export const OWN = { ofUsers: 'own_of_users', ofAdmins: 'own_of_admins' };

/**
 * Returns servers with all routes, and with the options that change a body or an error code of a route. The client
 * must know the bodies and codes of all of them.
 */
export function servers(): readonly Server[] {
  const email = { send: () => undefined };
  const all = (options?: Parameters<typeof everyPlugin>[0]) => [...everyPlugin(options), fixedProvider()];
  const configs: readonly Partial<AuthConfig<readonly Plugin[]>>[] = [
    {
      email,
      bearerEnabled: true,
      accountDeletion: { graceDays: 30 },
      tasks: { onboarding: { open: () => false, page: '/welcome' } },
      humanCheck: altcha({
        routes: ['signup/credential', 'signin/email', 'passwords/request-reset', 'signin/credential'],
      }),
      plugins: all({ sendsEmails: true }),
    },
    {
      email,
      signUp: 'closed',
      plugins: all({
        sendsEmails: true,
        password: { requireVerifiedEmail: true },
        organizations: { creation: 'administrators' },
      }),
    },
    // Each of the others has passkeys, because a session shows its `aal` only with them or with second factors.
    { email, plugins: [credentialPassword({ concealExistingEmails: true }), passkeys()] },
    { email, plugins: [credentialPassword({ resetBy: 'code', verifyEmailBy: 'code' }), passkeys()] },
    ...[true, false].map((bearerEnabled) => ({
      email,
      bearerEnabled,
      plugins: [credentialPassword({ verifyEmailBy: 'code', concealExistingEmails: true }), passkeys()],
    })),
    {
      email,
      plugins: [
        credentialPassword({ verifyEmailBy: 'code', requireVerifiedEmail: true }),
        passkeys(),
        twoFactor(),
      ],
    },
    { plugins: [credentialPassword({ identifier: 'username' }), passkeys(), twoFactor()] },
    {
      email,
      plugins: [
        admin({ adminEmails: ['root@example.com'], actAs: {} }),
        emailSignIn({ link: false }),
        passkeys(),
      ],
    },
  ];
  return configs.map((config) => {
    const { core, routes } = internalsOf(
      createAuth({
        database: 'sqlite:./unused.db',
        secret: 'a secret of a server that is never started',
        baseUrl: 'http://localhost',
        // The client sends no forms.
        forms: false,
        user: {
          fields: {
            ownOfUsers: { type: 'string', required: true },
            ownOfAdmins: { type: 'string', input: 'none', output: 'admin' },
          },
        },
        ...config,
      }),
    );
    return { core, routes: routes() };
  });
}
