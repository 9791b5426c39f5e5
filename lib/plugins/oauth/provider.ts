import { definePlugin, type Plugin } from '../../plugin.js';

/** The profile that a provider returned. It is validated before it is used. */
export interface Profile {
  /** The permanent id of the account at the provider. */
  readonly subject: unknown;
  /** The email, if the provider returned one. */
  readonly email: unknown;
  /**
   * Whether the provider has verified that the email belongs to this person. Only then is it stored, as verified. Each
   * provider module follows its provider's documentation.
   */
  readonly emailIsProof: boolean;
}

/** The sources from which a provider module can read a profile. */
export interface ProfileSources {
  /** The claims of the verified ID token; empty for plain OAuth 2.0. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Fetches userinfo, whose subject must match the ID token's. Null if there is no userinfo endpoint. */
  userinfo(): Promise<Record<string, unknown> | null>;
  /** Fetches another resource with the access token. @throws Error with the `status` of the response */
  get(url: string): Promise<unknown>;
}

/** Why the browser is sent to a provider: to sign in, to link an account, or to reauthenticate. */
export type FlowPurpose = 'sign-in' | 'link' | 'reauthenticate';

/** The configuration of a provider. */
export interface Provider {
  /** The `:provider` of the routes. */
  readonly id: string;
  /** An OpenID Connect issuer with discovery, or the endpoints of a service without it. */
  readonly server: { readonly discover: string } | OAuth2Server;
  /** The client id that the provider issued. */
  readonly clientId: string;
  /** A function if each request needs a new secret, as for Apple. */
  readonly clientSecret: string | (() => string);
  /** How to send the secret. `basic` falls back to `post` if discovery lists only that. */
  readonly clientAuth: 'basic' | 'post';
  /** The scopes to request. */
  readonly scopes: readonly string[];
  /** Additional parameters of the authorization request. */
  readonly authorizeParameters?: Readonly<Record<string, string>>;
  /**
   * Parameters for flows of one purpose, which replace `authorizeParameters` of the same name. A link replaces tokens
   * that can no longer be used, so it must bring a new refresh token: some providers issue one only if they ask for
   * consent. For `reauthenticate`, the default with discovery is `max_age=0` and `prompt=login`.
   */
  readonly parametersFor?: Readonly<Partial<Record<FlowPurpose, Readonly<Record<string, string>>>>>;
  /**
   * Issuers under which accounts of this provider were stored before. Such an account is still found, if it was stored
   * with this provider's id, and moves to the current issuer when its user signs in.
   */
  readonly formerIssuers?: readonly string[];
  /** Reads the profile of the person who signed in. */
  profile(sources: ProfileSources): Promise<Profile>;
}

/** The endpoints of a service that supports OAuth 2.0 only. */
export interface OAuth2Server {
  /** The issuer that is stored with its subjects. It must never change. */
  readonly issuer: string;
  /** The authorization endpoint. */
  readonly authorizationUrl: string;
  /** The token endpoint. */
  readonly tokenUrl: string;
  /** The URL that returns the user as JSON. */
  readonly userinfoUrl: string;
  /** The revocation endpoint (RFC 7009), if there is one. With discovery, it is the one in the metadata. */
  readonly revocationUrl?: string;
}

/** A plugin that adds a provider to `oauth()`. */
export interface ProviderPlugin extends Plugin<`provider ${string}`, null, Record<never, never>> {
  /** The provider's configuration, which `oauth()` reads. */
  readonly provider: Provider;
}

/** Creates the plugin of a provider. Its setup throws a TypeError if `oauth()` is missing. */
export function providerPlugin(provider: Provider): ProviderPlugin {
  const plugin = definePlugin({
    name: `provider ${provider.id}`,
    setup(_core, plugins) {
      if (!plugins.some(({ name }) => name === 'oauth'))
        throw new TypeError(`latchkey: provider ${provider.id}: add oauth() to plugins`);
      return { api: null };
    },
  });
  return { ...plugin, provider: { ...provider, scopes: withOpenid(provider) } };
}

/** Without `openid`, a provider treats the request as plain OAuth 2.0 and issues no ID token (OIDC Core, 3.1.2.1). */
function withOpenid({ server, scopes }: Provider): readonly string[] {
  return 'discover' in server && !scopes.includes('openid') ? ['openid', ...scopes] : scopes;
}
