import { flag, schemaOf } from '../../../config/options.js';
import { type Claims, type ProfileSources, type ProviderPlugin, providerPlugin } from '../provider.js';
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
   * Whether `email_verified: true` from this issuer counts as proof that the email belongs to the person, for a new
   * user and, with `linkByVerifiedEmail`, for an existing account. Enable it only if the issuer verifies every address,
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
      oidcProfile(sources, ({ email_verified }) => trusted(trustEmailVerified && email_verified === true)),
  });
}

/** Whether the claims prove their email: see `Profile`. */
export interface EmailProof {
  readonly emailIsProof: boolean;
  readonly emailIsAuthoritative: boolean;
}

/** Returns proof for both uses of an email, or for neither. */
export function trusted(isProof: boolean): EmailProof {
  return { emailIsProof: isProof, emailIsAuthoritative: isProof };
}

/**
 * Reads the profile from the ID token, or from userinfo if the ID token has no email. Userinfo is always fetched, so
 * that a mismatch of the subjects is detected.
 *
 * @param proofBy whether the claims that contain the email are proof of it
 */
export async function oidcProfile(
  { claims, userinfo }: Pick<ProfileSources, 'claims' | 'userinfo'>,
  proofBy: (claims: Claims) => EmailProof,
) {
  const more = await userinfo();
  const found = claims.email === undefined && more ? more : claims;
  return { subject: claims.sub, email: found.email, ...proofBy(found), claims: { ...more, ...claims } };
}
