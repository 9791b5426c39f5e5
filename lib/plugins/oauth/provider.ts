import type { Plugin } from '../../plugin.js';

/** What a provider says about who signed in. It is checked before anything is made of it. */
export interface Profile {
  /** The provider's own, lasting id for the account. */
  readonly subject: unknown;
  readonly email: unknown;
  /**
   * Whether the address is proved to be this person's: then, and only then, it becomes the account's email, as a
   * verified one. Each provider module decides from what its provider documents.
   */
  readonly emailIsProof: boolean;
}

/** What a provider module can read a profile from. */
export interface ProfileSources {
  /** The claims of the verified ID token; empty for plain OAuth 2.0. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** The userinfo endpoint's answer, whose subject is checked against the ID token's. Null where there is no endpoint. */
  userinfo(): Promise<Record<string, unknown> | null>;
  /** Another resource of the provider, with the access token. Its failure is an error with the answer's `status`. */
  get(url: string): Promise<unknown>;
}

/** How to talk to one provider. */
export interface Provider {
  /** The `:provider` of the routes. */
  readonly id: string;
  /** An OpenID Connect issuer, to be discovered; or the endpoints of a service without discovery. */
  readonly server: { readonly discover: string } | OAuth2Server;
  readonly clientId: string;
  /** A function where the secret is made anew each time, as Apple's is. */
  readonly clientSecret: string | (() => string);
  /** How it is sent. `basic` gives way to `post` where discovery says that only that is taken. */
  readonly clientAuth: 'basic' | 'post';
  readonly scopes: readonly string[];
  /** Further parameters of the authorization request. */
  readonly authorizeParameters?: Readonly<Record<string, string>>;
  profile(sources: ProfileSources): Promise<Profile>;
}

/** The endpoints of a service that speaks OAuth 2.0 only. */
export interface OAuth2Server {
  /** Under which its subjects are stored: it must never change. */
  readonly issuer: string;
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly userinfoUrl: string;
}

/** A plugin that brings one provider, and nothing else: `oauth()` picks it up. */
export interface ProviderPlugin extends Plugin<`provider ${string}`, null> {
  readonly provider: Provider;
}

/** Makes a plugin of a provider. Its setup throws a TypeError without `oauth()`. */
export function providerPlugin(provider: Provider): ProviderPlugin {
  return {
    name: `provider ${provider.id}`,
    provider: { ...provider, scopes: withOpenid(provider) },
    setup(_core, siblings) {
      if (!siblings.some(({ name }) => name === 'oauth'))
        throw new TypeError(`latchkey: provider ${provider.id}: add oauth() to plugins`);
      return { api: null };
    },
  };
}

/** Without `openid`, a provider takes the request for plain OAuth 2.0, and gives no ID token (OIDC Core, 3.1.2.1). */
function withOpenid({ server, scopes }: Provider): readonly string[] {
  return 'discover' in server && !scopes.includes('openid') ? ['openid', ...scopes] : scopes;
}
