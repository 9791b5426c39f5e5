import { flag, schemaOf } from '../../../config/options.js';
import {
  type Claims,
  type Profile,
  type ProfileSources,
  type ProviderPlugin,
  providerPlugin,
} from '../provider.js';
import {
  aliasShape,
  type ClientAuthOptions,
  clientAuthShape,
  clientOf,
  type ProfileAlias,
  type ProviderOptions,
  providerId,
  providerShape,
  readProvider,
  secureUrl,
} from './options.js';

/** Options of {@link oidc}. */
export interface OidcOptions extends ProviderOptions, ProfileAlias, ClientAuthOptions {
  /** The `:provider` of the routes: lower-case letters, digits, `_` and `-`. @default none, required */
  id: string;
  /** The issuer, exactly as in its discovery document. @default none, required */
  issuer: string;
  /**
   * Whether `email_verified: true` from this issuer counts like an email that the person has answered, for a new user
   * and, with `linkByVerifiedEmail`, for an existing account. Enable it only if the issuer verifies every address,
   * and no administrator of someone else's directory can set one.
   * @default false
   */
  trustEmailVerified?: boolean;
}

/** @internal */
export const schema = () =>
  schemaOf<OidcOptions>()({
    ...providerShape,
    ...aliasShape,
    id: providerId,
    issuer: secureUrl,
    clientAuth: clientAuthShape,
    trustEmailVerified: flag.default(false),
  });

/**
 * Adds any OpenID Connect provider with discovery (OpenID Connect Discovery 1.0).
 *
 * @throws TypeError on invalid options
 */
export function oidc(options: OidcOptions): ProviderPlugin {
  const read = readProvider(options?.id, schema, options);
  const { id, issuer, clientAuth, scopes, trustEmailVerified } = read;
  return providerPlugin({
    id,
    server: { discover: issuer },
    ...clientOf(read),
    clientAuth,
    scopes: scopes ?? ['openid', 'email', 'profile'],
    // Without prompt=consent, providers must ignore offline_access (OpenID Connect Core 1.0, 11).
    ...(scopes?.includes('offline_access') && { authorizeParameters: { prompt: 'consent' } }),
    profile: (sources) =>
      oidcProfile(sources, (claims) => authoritative(trustEmailVerified && saysVerified(claims))),
  });
}

/** Whether claims say that the email was verified. Some providers send `email_verified` as a string. */
export function saysVerified({ email_verified }: Claims): boolean {
  return email_verified === true || email_verified === 'true';
}

/** How far to trust a provider's statement about an email: see `Profile`. */
type Word = Pick<Profile, 'emailIsProof' | 'emailIsAuthoritative'>;

/** The trust in a provider that has verified an address of another mail service, or has not. */
export function verified(isVerified: boolean): Word {
  return { emailIsProof: isVerified };
}

/** The trust in a provider that runs the mailbox, or that the app trusts as if it did. */
export function authoritative(isVerified: boolean): Word {
  return { emailIsProof: isVerified, emailIsAuthoritative: isVerified };
}

/**
 * Reads the profile from the ID token, or from userinfo if the ID token has no email. Userinfo is always fetched, so
 * that a mismatch of the subjects is detected.
 *
 * @param wordOf returns how far to trust the claims that contain the email
 */
export async function oidcProfile(
  { claims, userinfo }: Pick<ProfileSources, 'claims' | 'userinfo'>,
  wordOf: (claims: Claims) => Word,
) {
  const more = await userinfo();
  const found = claims.email === undefined && more ? more : claims;
  return { subject: claims.sub, email: found.email, ...wordOf(found), claims: { ...more, ...claims } };
}
