import * as z from 'zod';
import { isLoopback, readOptions, schemaOf } from '../../../config/options.js';
import { isOwnPath } from '../../../http/callback-url.js';
import { FLOW_PARAMETERS } from '../authorization-server.js';
import type { FieldsOf } from '../provider.js';

/** The redirect URI to which a provider sends the browser back. Providers accept only registered ones. */
export interface CallbackOptions {
  /**
   * The path of the callback routes, below the path of the router, such as `/google/callback`. It must not be the path
   * of another route.
   * @default the path of all providers, `/oauth/:provider/callback`
   */
  callbackPath?: string;
  /**
   * A path of your app, or a URL with the origin of `baseUrl`, where your app mounts `authCallback(auth, 'google')`. It
   * is then the redirect URI, instead of one below the path of the router. A path is relative to `baseUrl`.
   * @default none
   */
  callbackUrl?: string;
}

/** How pages and emails show a provider to users. */
export interface ShownOptions {
  /**
   * The name of the provider, as on the button "Continue with Acme ID" and in notices: 1 to 64 visible characters.
   * @default the service's own name; for `oidc()` and `oauth2()`, made from `id`
   */
  name?: string;
  /** The icon on buttons of pages, such as `/icons/acme.svg`: a path of this origin. @default none */
  icon?: string;
}

/** Options of all providers. */
export interface ProviderOptions extends CallbackOptions, ShownOptions {
  /** The client id that the provider issued. @default none, required */
  clientId: string;
  /** The client secret that the provider issued. @default none, required */
  clientSecret: string;
  /** The scopes to request; `openid` is added if needed. @default the scopes needed to sign in, for named providers */
  scopes?: readonly string[];
  /**
   * Additional parameters of the authorization request, such as `{ prompt: 'select_account' }`. They replace parameters
   * of the provider's module, except that prompts are combined. Parameters of the flow itself, such as `state`, are
   * rejected.
   * @default none
   */
  authorizeParameters?: Readonly<Record<string, string>>;
  /**
   * Returns the values of your app's fields for a new user, by their names in code, such as
   * `(claims) => ({ name: claims.name })`. `claims` is the provider's data about the person. Values that break the
   * rules of their field are left out.
   * @default none
   */
  fields?: FieldsOf;
}

/** Another name of `fields`, for providers without their own `profile` option. */
export interface ProfileAlias<F = FieldsOf> {
  /** The same as `fields`. @default none */
  profile?: F;
}

/** How the client secret is sent, for providers that latchkey does not know. */
export interface ClientAuthOptions {
  /**
   * How the client secret is sent to the provider: `basic` in the `Authorization` header, or `post` in the body (RFC
   * 6749, 2.3.1).
   * @default for `oidc()`, `post` if discovery lists it, otherwise `basic`; for `oauth2()`, `post`
   */
  clientAuth?: 'basic' | 'post';
}

/** Options of providers with OpenID Connect discovery. */
export interface DiscoveredOptions extends ProviderOptions, ProfileAlias {
  /** Another issuer: a self-hosted or a test server. @default the provider's own */
  issuer?: string;
}

/** Endpoints of a service without discovery, to replace its own: for a self-hosted or a test server. */
export interface Endpoints {
  /** The authorization endpoint. @default the provider's own */
  authorizationUrl?: string;
  /** The token endpoint. @default the provider's own */
  tokenUrl?: string;
  /** The URL that returns the user as JSON. @default the provider's own */
  userinfoUrl?: string;
  /**
   * The endpoint that revokes tokens when an account is unlinked.
   * @default the provider's own, unless `tokenUrl` is replaced
   */
  revocationUrl?: string;
}

/** Options of providers that support OAuth 2.0 without discovery. */
export interface EndpointOptions extends ProviderOptions, ProfileAlias {
  /** Replaces endpoints. @default the provider's own */
  endpoints?: Endpoints;
}

/** @internal */
export const required = z.string('is missing').min(1, 'is missing');

/** An https URL. Plain http is allowed for loopback addresses only, for development and tests. @internal */
export const secureUrl = z
  .string('must be an https URL (http is allowed on localhost only)')
  .refine(isSecureUrl, 'must be an https URL (http is allowed on localhost only)');

/** @internal */
export const providerId = z
  .string('must be 1 to 64 characters of a-z, 0-9, _ and -')
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be 1 to 64 characters of a-z, 0-9, _ and -');

const scopes = z.custom<readonly string[]>(
  (value) => Array.isArray(value) && value.every((one) => typeof one === 'string' && /^\S+$/.test(one)),
  'must be a list of scopes',
);

const authorizeParameters = z
  .record(z.string(), z.string('must be a string'))
  .refine((parameters) => !Object.keys(parameters).some((name) => FLOW_PARAMETERS.has(name.toLowerCase())), {
    error: `must not contain parameters of the flow itself: ${[...FLOW_PARAMETERS].join(', ')}`,
  });

const CALLBACK_PATH = 'must be a path below the path of the router, such as /google/callback';
const CALLBACK_URL =
  'must be a path of your app, or a URL with the origin of baseUrl, without a query, such as /signin/google/return';

/** @internal */
export const callbackShape = {
  callbackPath: z
    .string(CALLBACK_PATH)
    .max(255, 'must have at most 255 characters')
    .refine((path) => /^(\/[A-Za-z0-9._~-]+)+\/?$/.test(path) && isNormal(path), CALLBACK_PATH)
    .optional(),
  callbackUrl: z
    .string(CALLBACK_URL)
    .max(1000, 'must have at most 1000 characters')
    .refine((url) => !/[?#\\]/.test(url) && isNormal(url), CALLBACK_URL)
    .optional(),
};

/**
 * Whether a path or URL is written as browsers write it. Providers compare redirect URIs as strings, so another
 * spelling would not match the registered URI.
 */
function isNormal(value: string): boolean {
  if (!value.startsWith('/'))
    return /^https?:/.test(value) && URL.canParse(value) && new URL(value).href === value;
  const url = URL.canParse(value, EXAMPLE) ? new URL(value, EXAMPLE) : null;
  return url?.href === EXAMPLE + value;
}

const EXAMPLE = 'https://app.example.com';

const NAME = 'must be 1 to 64 visible characters';

/** @internal */
export const shownShape = {
  name: z
    .string(NAME)
    .regex(/^(?=.*\S)[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u, NAME)
    .optional(),
  icon: z
    .string('must be a path of this origin, such as /icons/acme.svg')
    .refine(isOwnPath, 'must be a path of this origin, such as /icons/acme.svg')
    .optional(),
};

/** A function of the app. @internal */
export const callback = <F>() =>
  z.custom<F>((value) => typeof value === 'function', 'must be a function').optional();

/** @internal */
export const providerShape = {
  ...callbackShape,
  ...shownShape,
  clientId: required,
  clientSecret: required,
  scopes: scopes.optional(),
  authorizeParameters: authorizeParameters.optional(),
  fields: callback<FieldsOf>(),
};

/** @internal */
export const aliasShape = { profile: callback<FieldsOf>() };

/** @internal */
export const clientAuthShape = z.enum(['basic', 'post'], 'must be basic or post').optional();

/** @internal */
export const discoveredShape = { ...providerShape, ...aliasShape, issuer: secureUrl.optional() };

/** @internal */
export const discoveredSchema = () => schemaOf<DiscoveredOptions>()(discoveredShape);

/** @internal */
export const endpointsShape = {
  authorizationUrl: secureUrl.optional(),
  tokenUrl: secureUrl.optional(),
  userinfoUrl: secureUrl.optional(),
  revocationUrl: secureUrl.optional(),
};

/** @internal */
export const endpointsSchema = () => schemaOf<Endpoints>()(endpointsShape);

/** @internal */
export const endpointSchema = () =>
  schemaOf<EndpointOptions>()({
    ...providerShape,
    ...aliasShape,
    endpoints: endpointsSchema().optional(),
  });

/**
 * Validates the options of a provider, and fills in defaults.
 *
 * @throws TypeError that names every mistake and its fix, without quoting values
 * @internal
 */
export const readProvider: typeof readOptions = (provider, makeSchema, options) =>
  // JavaScript callers might pass another type, and not every value can be converted to a string.
  readOptions(
    `provider ${typeof provider === 'string' && provider !== '' ? provider : '(no id)'}`,
    makeSchema,
    options ?? ({} as never),
  );

/** Returns the options of a provider that all providers have in common. */
export function clientOf(options: ProviderOptions & ProfileAlias) {
  const { name, icon, clientId, clientSecret, callbackPath, callbackUrl, fields, profile } = options;
  return {
    name,
    icon,
    clientId,
    clientSecret,
    callbackPath,
    callbackUrl,
    appParameters: options.authorizeParameters,
    fields: fieldsOf({ fields, profile }),
  };
}

/** @throws TypeError if both names of the option are used */
export function fieldsOf<F>({ fields, profile }: { fields?: F } & ProfileAlias<F>): F | undefined {
  if (fields && profile)
    throw new TypeError('latchkey: provider: fields and profile are the same option: use one of them');
  return fields ?? profile;
}

function isSecureUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}
