import { definePlugin, type Plugin } from '../../plugin.js';

/** The profile that a provider returned. It is validated before it is used. */
export interface Profile {
  /** The permanent id of the account at the provider: a string, or an integer that JavaScript represents exactly. */
  readonly subject: unknown;
  /**
   * The id of the account at the provider before it had a permanent one. latchkey still finds an account that is stored
   * with this id, and then stores it with `subject`.
   * @default none
   */
  readonly formerSubject?: unknown;
  /** The email, if the provider returned one. */
  readonly email: unknown;
  /**
   * Whether the provider has verified that the email belongs to this person. A new user gets the email, as a verified
   * one, only if this is true. Each provider module follows its provider's documentation.
   */
  readonly emailIsProof: boolean;
  /**
   * Has no effect unless `emailIsProof` is true. True if the provider runs the mailbox, or is an authority for its
   * addresses for another reason: its verification then counts like an email that the user has answered. False if the
   * person, or their administrator, might have an address that now belongs to someone else: the email then does not
   * sign them in to an existing account with this email (`linkByVerifiedEmail`).
   * @default neither: with `linkByVerifiedEmail`, the provider's verification is trusted, however old it is
   */
  readonly emailIsAuthoritative?: boolean | undefined;
}

/** A provider's data about a person: the claims of OpenID Connect, or the JSON of a userinfo URL. */
export type Claims = Readonly<Record<string, unknown>>;

/** Reads the values of the app's fields for a new user, by their names in code. */
export type FieldsOf<C extends Claims = Claims> = (
  claims: C,
) => Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>>;

/** Why the browser is sent to a provider: to sign in, to link an account (again), or to reauthenticate. */
export type FlowPurpose = 'sign-in' | 'link' | 'reauthenticate';

/** The sources from which a provider module can read a profile. */
export interface ProfileSources {
  /** The claims of the verified ID token; empty for plain OAuth 2.0. */
  readonly claims: Claims;
  /** The access token. */
  readonly accessToken: string;
  /** Fetches userinfo, whose subject must match the ID token's. Null if it is missing, or optional and failed. */
  userinfo(): Promise<Claims | null>;
  /** Fetches another resource with the access token. @throws Error with the `status` of the response */
  get(url: string): Promise<unknown>;
}

/** A profile, and the claims that it was read from. */
export interface ReadProfile extends Profile {
  readonly claims: Claims;
}

/** The configuration of a provider. */
export interface Provider {
  /** The `:provider` of the routes. */
  readonly id: string;
  /** The name that users see. @default {@link providerNameOf} the id */
  readonly name?: string | undefined;
  /** The icon that users see: a path of this origin. @default none */
  readonly icon?: string | undefined;
  /** An OpenID Connect issuer with discovery, or the endpoints of a service. */
  readonly server: { readonly discover: string } | OAuth2Server | OpenIdServer;
  /** The client id that the provider issued. */
  readonly clientId: string;
  /** The path of the callback routes. @default `/oauth/<id>/callback` */
  readonly callbackPath?: string | undefined;
  /** The redirect URI, or its path, if the app serves it with `authCallback`. */
  readonly callbackUrl?: string | undefined;
  /** The client secret, or a function if each request needs a new secret, as for Apple. */
  readonly clientSecret: string | (() => string);
  /** How to send the secret. If undefined, `post` if discovery lists it, otherwise `basic`. */
  readonly clientAuth: ClientAuthMethod | undefined;
  /** Whether the authorization request uses PKCE. False only for a provider that rejects it. @default true */
  readonly pkce?: boolean;
  /** The scopes to request. */
  readonly scopes: readonly string[];
  /** The parameter that names the account to suggest. @default `login_hint` (OpenID Connect Core 1.0, 3.1.2.1) */
  readonly loginHintParameter?: string;
  /** Whether the provider adds a fragment to the redirect URI, which browsers keep when they follow a redirect. */
  readonly addsFragment?: boolean;
  /** Additional parameters of the authorization request. */
  readonly authorizeParameters?: Readonly<Record<string, string>>;
  /**
   * Parameters for flows of one purpose, which replace `authorizeParameters` of the same name. A link replaces tokens
   * that no longer work, so it requires a new refresh token, which some providers issue only if they ask for consent.
   * For `reauthenticate`, the default with OpenID Connect is `max_age=0` and `prompt=login`.
   */
  readonly parametersFor?: Readonly<Partial<Record<FlowPurpose, Readonly<Record<string, string>>>>>;
  /** Whether its ID tokens name an issuer for each tenant, instead of the configured issuer. @default false */
  readonly hasTenants?: boolean;
  /**
   * Issuers under which accounts of this provider were stored before. An account that was stored with this provider's
   * id belongs to this provider alone. It moves to the current issuer when its user signs in, or when another provider
   * with the former issuer returns the same subject.
   */
  readonly formerIssuers?: readonly string[];
  /** The app's additional parameters. They replace `authorizeParameters` of the same name. Prompts are combined. */
  readonly appParameters?: Readonly<Record<string, string>> | undefined;
  /** How to end a grant when an account is unlinked. @default RFC 7009, if there is such an endpoint */
  readonly revocation?: Revocation;
  /** Returns the permanent id of the account, according to an ID token. @default its `sub` */
  subjectOf?(claims: Claims): unknown;
  /** Checks an ID token beyond its signature and OpenID Connect. @throws Error that says what is wrong, without values */
  checkClaims?(claims: Claims): void;
  /**
   * Translates an error response of the token endpoint that does not follow RFC 6749, 5.2, to the code that it stands
   * for, such as `invalid_grant`. Otherwise, a grant that has ended would look like an outage. Undefined leaves the
   * response as it is.
   */
  errorOf?(body: Claims, status: number): 'invalid_grant' | 'invalid_client' | undefined;
  /** The app's function for the fields of a new user. */
  readonly fields?: FieldsOf | undefined;
  /**
   * Returns claims that the provider sends only in the parameters of its response. They are not signed, and come from
   * the browser, so they must not contain anything that identifies an account. Other claims of the same name replace
   * them.
   */
  unsignedClaims?(parameters: URLSearchParams): Claims;
  /** Reads the profile of the person who signed in. */
  profile(sources: ProfileSources): Promise<ReadProfile>;
}

/** How a client secret is sent: in the `Authorization` header, or in the body (RFC 6749, 2.3.1). */
export type ClientAuthMethod = 'basic' | 'post';

/** The tokens of an account that is being unlinked, as far as they are known. */
export interface RevocableTokens {
  readonly accessToken: string | null;
  readonly refreshToken: string | null;
}

/** Creates the request that ends a grant, for a provider without an RFC 7009 endpoint. Null if there is no grant. */
export type Revocation = (tokens: RevocableTokens) => RevocationRequest | null;

/** A request to a provider that ends a grant. */
export interface RevocationRequest {
  readonly url: string;
  readonly method: 'POST' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The endpoints of a service that supports OAuth 2.0 only. */
export interface OAuth2Server {
  /** The issuer that is stored with its subjects. It must never change. */
  readonly issuer: string;
  /** The `iss` of its authorization responses (RFC 9207), if it sends one. @default `issuer` */
  readonly responseIssuer?: string;
  /** The authorization endpoint. */
  readonly authorizationUrl: string;
  /** The token endpoint. */
  readonly tokenUrl: string;
  /** The URL that returns the user as JSON. */
  readonly userinfoUrl: string;
  /** The endpoint that revokes tokens (RFC 7009), if there is one. */
  readonly revocationUrl?: string | undefined;
}

/** The endpoints of an OpenID Connect provider whose discovery is not used. */
export interface OpenIdServer {
  /** The issuer of its ID tokens. */
  readonly issuer: string;
  /** The authorization endpoint. */
  readonly authorizationUrl: string;
  /** The token endpoint. */
  readonly tokenUrl: string;
  /** The signing keys. */
  readonly jwksUrl: string;
  /** The algorithm of its signatures. */
  readonly algorithm: string;
  /** The endpoint that revokes tokens (RFC 7009). */
  readonly revocationUrl: string;
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

const NAMES: Readonly<Record<string, string>> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  linkedin: 'LinkedIn',
  paypal: 'PayPal',
  x: 'X',
};

/** Returns the name of a provider whose options contain none, such as "Acme Id" for `acme-id`. */
export function providerNameOf(id: string): string {
  return (
    NAMES[id] ??
    id
      .split('-')
      .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
      .join(' ')
  );
}

/** Whether a provider issues ID tokens that can be verified. */
export function isOidc({ server }: Provider): boolean {
  return 'discover' in server || 'jwksUrl' in server;
}

/** A person at a provider, whom a subject identifies only together with its issuer. */
export interface Person {
  readonly issuer: string;
  readonly providerAccountId: string;
}

/**
 * Whether a stored link belongs to a person, perhaps under a former issuer of the provider.
 *
 * @param formerSubject see {@link Profile.formerSubject}
 */
export function isSamePerson(
  { formerIssuers = [] }: Provider,
  stored: Person,
  { issuer, providerAccountId }: Person,
  formerSubject: string | null = null,
): boolean {
  const isIssuer = stored.issuer === issuer || formerIssuers.includes(stored.issuer);
  return isIssuer && [providerAccountId, formerSubject].includes(stored.providerAccountId);
}

/** Returns the configured issuer. The issuer of ID tokens can differ, because it can name a tenant. */
export function issuerOf({ server }: Provider): string {
  return 'discover' in server ? server.discover : server.issuer;
}

/** Adds `openid`, because without it a provider uses plain OAuth 2.0 and issues no ID token (OIDC Core, 3.1.2.1). */
function withOpenid(provider: Provider): readonly string[] {
  const { scopes } = provider;
  return isOidc(provider) && !scopes.includes('openid') ? ['openid', ...scopes] : scopes;
}
