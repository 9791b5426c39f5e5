import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { schemaOf } from '../../../config/options.js';
import { type Claims, type FieldsOf, type ProviderPlugin, providerPlugin } from '../provider.js';
import { isObject, isStorable } from '../token-response.js';
import { authoritative, oidcProfile, saysVerified, verified } from './oidc.js';
import {
  type CallbackOptions,
  callback,
  discoveredShape,
  fieldsOf,
  type ProfileAlias,
  type ProviderOptions,
  readProvider,
  required,
  type ShownOptions,
} from './options.js';

/** Apple's data about a person. */
export interface AppleClaims extends Claims {
  /**
   * The name that the person has entered, which Apple sends only at their first sign-in. It is not signed and comes
   * from the browser, so treat it like the input of a form.
   */
  readonly user?: { readonly name: { readonly firstName?: string; readonly lastName?: string } };
}

/** Options of {@link apple}. */
export interface AppleOptions
  extends Pick<ProviderOptions, 'authorizeParameters'>,
    CallbackOptions,
    ShownOptions,
    ProfileAlias<FieldsOf<AppleClaims>> {
  /** The Services ID. @default none, required */
  clientId: string;
  /** The ten-character id of the developer team. @default none, required */
  teamId: string;
  /** The id of the key. @default none, required */
  keyId: string;
  /** The contents of the `.p8` file: a PEM key on the curve P-256. @default none, required */
  privateKey: string;
  /**
   * Returns the values of your app's fields for a new user, by their names in code. Apple sends the name only once: see
   * {@link AppleClaims}.
   * @default none
   */
  fields?: FieldsOf<AppleClaims>;
  /** The scopes to request. @default `openid`, `name` and `email` */
  scopes?: readonly string[];
  /** Another issuer, for tests, with the paths of Apple's endpoints. @default Apple's */
  issuer?: string;
}

const APPLE = 'https://appleid.apple.com';
// The mailboxes of iCloud, and the relays of Hide My Email. An account can have an address elsewhere, too.
const RUN_BY_APPLE = /@(icloud\.com|me\.com|mac\.com|privaterelay\.appleid\.com|private\.icloud\.com)$/i;
const SECRET_SECONDS = 300;
const MAX_USER = 4096;
const MAX_NAME = 255;
const { clientSecret: _generated, ...shape } = discoveredShape;

/** @internal */
export const schema = () =>
  schemaOf<AppleOptions>()({
    ...shape,
    fields: callback<FieldsOf<AppleClaims>>(),
    profile: callback<FieldsOf<AppleClaims>>(),
    teamId: required,
    keyId: required,
    privateKey: required,
  });

/**
 * Adds Sign in with Apple. Apple responds with a form post, and requires a signed JWT as the client secret. It sends
 * `email_verified` for every address, including relay addresses, as a boolean or a string. It can be false for accounts
 * of companies and schools. If it is true, an address of Apple's own mailboxes or relays counts like an email that the
 * person has answered, and any other address as verified at some time. Discovery is not used, because for hours in June
 * 2025 it named a different issuer than the ID tokens. Unlinking revokes the tokens, which Apple requires of apps that
 * delete accounts.
 *
 * @throws TypeError if the private key is invalid
 * @see https://developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret
 * @see https://developer.apple.com/documentation/signinwithapple/authenticating-users-with-sign-in-with-apple
 * @see https://github.com/supabase/auth/issues/2051 on discovery
 * @see https://apple.gadgethacks.com/news/sign-in-with-apple-domain-consolidation-developer-and-esp-update-guide/ on the
 *   domains of relays
 * @see https://developer.apple.com/documentation/signinwithapplerestapi/request-an-authorization-to-the-sign-in-with-apple-server on `user`
 * @see https://developer.apple.com/documentation/signinwithapplerestapi/revoke-tokens
 * @see https://developer.apple.com/documentation/technotes/tn3194-handling-account-deletions-and-revoking-tokens-for-sign-in-with-apple
 */
export function apple(options: AppleOptions): ProviderPlugin {
  const read = readProvider('apple', schema, options);
  const {
    clientId,
    teamId,
    keyId,
    scopes,
    issuer = APPLE,
    name,
    icon,
    callbackPath,
    callbackUrl,
    fields,
    profile,
  } = read;
  const key = readKey(read.privateKey);
  return providerPlugin({
    id: 'apple',
    server: {
      issuer,
      authorizationUrl: `${issuer}/auth/authorize`,
      tokenUrl: `${issuer}/auth/token`,
      jwksUrl: `${issuer}/auth/keys`,
      revocationUrl: `${issuer}/auth/revoke`,
      algorithm: 'RS256',
    },
    name,
    icon,
    clientId,
    callbackPath,
    callbackUrl,
    appParameters: read.authorizeParameters,
    clientSecret: () => clientSecret(key, { keyId, teamId, clientId, audience: issuer }),
    clientAuth: 'post',
    scopes: scopes ?? ['openid', 'name', 'email'],
    // Apple requires a form post if name or email is requested.
    authorizeParameters: { response_mode: 'form_post' },
    fields: fieldsOf({ fields, profile }) as FieldsOf | undefined,
    unsignedClaims,
    // Apple has no userinfo endpoint. All data is in the ID token.
    profile: ({ claims }) =>
      oidcProfile({ claims, userinfo: async () => null }, (its) => {
        const word = RUN_BY_APPLE.test(String(its.email)) ? authoritative : verified;
        return word(saysVerified(its));
      }),
  });
}

/**
 * Returns the name in `user`, which Apple sends only with the first response, and outside the ID token. The email in
 * `user` is left out, because only the ID token's email is signed.
 */
function unsignedClaims(parameters: URLSearchParams): AppleClaims {
  const { firstName, lastName } = namesIn(parameters.get('user') ?? '');
  const name = { ...(isName(firstName) && { firstName }), ...(isName(lastName) && { lastName }) };
  return Object.keys(name).length > 0 ? { user: { name } } : {};
}

function namesIn(user: string): Record<string, unknown> {
  if (user.length > MAX_USER) return {};
  try {
    const { name } = JSON.parse(user);
    return isObject(name) ? name : {};
  } catch {
    return {};
  }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && isStorable(value, MAX_NAME);
}

function readKey(pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key;
  } catch {
    // The error below replaces the original one, which could quote the key.
  }
  throw new TypeError(
    'latchkey: provider apple: privateKey must be a PEM key on the curve P-256, as in the .p8 file',
  );
}

/** Creates a JWT, signed with ES256 (RFC 7518, 3.4). */
function clientSecret(
  key: KeyObject,
  {
    keyId,
    teamId,
    clientId,
    audience,
  }: { keyId: string; teamId: string; clientId: string; audience: string },
): string {
  const now = Math.floor(Date.now() / 1000);
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const header = encode({ alg: 'ES256', kid: keyId });
  const payload = encode({ iss: teamId, iat: now, exp: now + SECRET_SECONDS, aud: audience, sub: clientId });
  const signature = sign('sha256', Buffer.from(`${header}.${payload}`), { key, dsaEncoding: 'ieee-p1363' });
  return `${header}.${payload}.${signature.toString('base64url')}`;
}
