import type { Transaction } from 'sequelize';
import * as z from 'zod';
import { flag, readOptions, schemaOf } from '../../config/options.js';
import { checkCallbackUrl } from '../../http/callback-url.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import type { ModelsOf } from '../../tables/model.js';
import { SealedRows } from '../../tables/sealed-rows.js';
import type { RowReader } from '../../users/imported.js';
import { Accounts, undoRules } from './accounts.js';
import { OAuthApi } from './api.js';
import { ProviderClient } from './client.js';
import { accountsTable, flowsTable } from './declarations.js';
import { Flows } from './flows.js';
import { linksOfRows } from './imported-links.js';
import { MAX_ISSUER } from './profile.js';
import { issuerOf, type Provider, type ProviderPlugin } from './provider.js';
import { checkRedirectUri } from './redirect-uri.js';
import { Revocations } from './revocations.js';
import {
  authorize,
  callbacks,
  callbacksOf,
  link,
  listAccounts,
  readTokens,
  reauthenticate,
  refreshTokens,
  unlink,
} from './routes.js';
import { nameOf, revokeTokens } from './services.js';
import { contextOf, TOKEN_FIELDS, TokenBox } from './token-box.js';
import { Refresher } from './tokens.js';

/** Options of {@link oauth}. */
export interface OAuthOptions {
  /**
   * Whether a sign-in with a provider is linked automatically to the account with the same email, if its mailbox is
   * proven on the account, and the provider has verified the email. latchkey trusts the provider's verification,
   * however old it is: see `emailIsAuthoritative` of `Profile`.
   * @default false
   */
  linkByVerifiedEmail?: boolean;
  /**
   * The page for browsers that return from a provider without a valid flow, for example because the user took too long:
   * a path of this origin, or a URL of a trusted one. latchkey adds `?error=invalid_flow`.
   * @default the root of `baseUrl`
   */
  errorUrl?: string;
}

const TABLES = { Account: accountsTable, OAuthFlow: flowsTable } as const;

/** The models that {@link oauth} adds to `auth.models`. */
export interface OAuthModels extends ModelsOf<typeof TABLES> {}

/** @internal */
export const schema = () =>
  schemaOf<OAuthOptions>()({
    linkByVerifiedEmail: flag.default(false),
    errorUrl: z.string('must be a path of this app, or a URL of a trusted origin').optional(),
  });

/**
 * Adds sign-in with providers, and linked accounts. Each provider is a separate plugin.
 *
 * @throws TypeError on invalid options
 *
 * @example
 * plugins: [oauth({ linkByVerifiedEmail: true }), google({ clientId, clientSecret })]
 */
export function oauth(options: OAuthOptions = {}): Plugin<'oauth', OAuthApi, OAuthModels> {
  const settings = readOptions('oauth', schema, options);
  return definePlugin({
    name: 'oauth',
    setup(core, plugins) {
      const { origin, origins, publicPath } = core.settings;
      if (origin === null) {
        throw new TypeError(
          'latchkey: oauth() requires baseUrl, such as https://app.example.com, for redirect URIs',
        );
      }
      const listed = plugins.filter(isProvider).map(({ provider }) => provider);
      // Their order in the config is only for users.
      const providers = listed.toSorted(byId);
      if (providers.length === 0) {
        throw new TypeError(
          'latchkey: oauth() has no provider: add one from latchkey/providers to plugins, such as google({ clientId, clientSecret })',
        );
      }
      const configured = settings.errorUrl === undefined ? null : readErrorUrl(settings.errorUrl, origins);
      // The page for signing in says what has happened.
      const errorUrl = () => configured ?? core.pages?.url('sign-in') ?? `${publicPath}/`;
      for (const provider of providers) {
        checkIssuers(provider);
        checkRedirectUri(provider, origin);
      }
      const clients = new Map(providers.map((one) => [one.id, new ProviderClient(one, core.settings.log)]));
      const box = new TokenBox(core.box);
      const accounts = new Accounts(core, box, providers);
      const flows = new Flows(core);
      const revocations = new Revocations(core.context.background);
      const refresher = new Refresher({ core, accounts, box, revocations });
      const { linkByVerifiedEmail } = settings;
      const parts = { core, clients, accounts, box, flows, refresher, revocations, linkByVerifiedEmail };
      const api = new OAuthApi(parts);
      const returns = callbacks(api, errorUrl);
      const moved = providers.flatMap((one) => callbacksOf(one, returns));
      // Accounts at providers that are no longer configured cannot be used to sign in.
      const usable = async (userId: string, transaction?: Transaction) =>
        (await accounts.list(userId, transaction)).flatMap(({ provider }) =>
          clients.has(provider) ? provider : [],
        );
      const removeAll = async (userId: string, transaction: Transaction) => {
        for (const account of await accounts.deleteAll(userId, transaction))
          revokeTokens(parts, account, transaction);
      };
      return {
        api,
        routes: () => [
          listAccounts(api),
          authorize(core, api),
          link(core, api),
          reauthenticate(core, api),
          ...returns,
          ...moved,
          unlink(api),
          readTokens(api),
          refreshTokens(api),
        ],
        hasChosenPaths: moved.length > 0,
        tables: TABLES,
        onFirstProof: removeAll,
        onDelete: removeAll,
        async onDeletionRequested(userId, transaction) {
          for (const account of await accounts.dropTokens(userId, transaction))
            revokeTokens(parts, account, transaction);
        },
        signInMethods: {
          schema: { providers: z.array(z.string()) },
          of: async ({ user }) => ({ providers: await usable(user.id) }),
        },
        forPages: {
          providers: listed.map(({ id, icon = null }) => ({ id, name: nameOf(parts, id), icon })),
          providerName: (id) => nameOf(parts, id),
        },
        waysIn: async ({ user }, transaction) =>
          (await usable(user.id, transaction)).map((id) => ({ kind: 'provider', id })),
        undo: undoRules(accounts),
        rowReaders: [linksOfRows(accounts, providers) as RowReader],
        settle: async () => {
          await refresher.settle();
          // A refresh can start a revocation.
          await revocations.settle();
        },
        sealed: [new SealedRows(core.table(accountsTable), core.box, TOKEN_FIELDS, contextOf)],
      };
    },
  });
}

/** @throws TypeError if it is not a valid callback URL */
function readErrorUrl(errorUrl: string, origins: ReadonlySet<string>): string {
  try {
    return checkCallbackUrl(errorUrl, origins);
  } catch (cause) {
    throw new TypeError(
      'latchkey: oauth: errorUrl must be a path of this app, or a URL with the origin of baseUrl or of trustedOrigins',
      { cause },
    );
  }
}

/** @throws TypeError if accounts cannot be stored under an issuer of the provider */
function checkIssuers(provider: Provider): void {
  const issuers = [issuerOf(provider), ...(provider.formerIssuers ?? [])];
  if (issuers.some((issuer) => issuer.length > MAX_ISSUER))
    throw new TypeError(
      `latchkey: provider ${provider.id}: issuer must have at most ${MAX_ISSUER} characters`,
    );
}

function byId(a: Provider, b: Provider): number {
  return a.id < b.id ? -1 : 1;
}

function isProvider(plugin: Plugin): plugin is ProviderPlugin {
  return 'provider' in plugin;
}
