import { z } from 'zod';
import { type ProfileSources, type ProviderPlugin, providerPlugin } from '../provider.js';
import { checkOptions, type ProviderOptions, providerId, providerShape, secureUrl } from './options.js';

const SHAPE = {
  ...providerShape,
  id: providerId,
  issuer: secureUrl,
  trustEmailVerified: z.boolean('must be true or false').optional(),
};

/** Options of {@link oidc}. */
export interface OidcOptions extends ProviderOptions {
  /** The `:provider` of the routes: lower-case letters, digits, `_` and `-`. @default none, required */
  id: string;
  /** The issuer, as in its discovery document. @default none, required */
  issuer: string;
  /**
   * Whether `email_verified: true` from this issuer counts as proof that the email belongs to the person. Enable it
   * only if the issuer verifies every address.
   * @default false
   */
  trustEmailVerified?: boolean;
}

/**
 * Any OpenID Connect provider with discovery (OpenID Connect Discovery 1.0).
 *
 * @throws TypeError on invalid options
 */
export function oidc(options: OidcOptions): ProviderPlugin {
  const {
    id,
    issuer,
    clientId,
    clientSecret,
    scopes,
    trustEmailVerified = false,
  } = checkOptions(options?.id, options, SHAPE);
  return providerPlugin({
    id,
    server: { discover: issuer },
    clientId,
    clientSecret,
    clientAuth: 'basic',
    scopes: scopes ?? ['openid', 'email', 'profile'],
    // Without prompt=consent, providers must ignore offline_access (OpenID Connect Core 1.0, 11).
    ...(scopes?.includes('offline_access') && { authorizeParameters: { prompt: 'consent' } }),
    profile: (sources) =>
      oidcProfile(sources, (claims) => trustEmailVerified && claims.email_verified === true),
  });
}

/**
 * Reads the profile from the ID token, or from userinfo if the ID token has no email. Userinfo is always fetched, so
 * that a mismatch of the subjects is detected.
 *
 * @param isProof whether the claims prove that the email belongs to the person
 */
export async function oidcProfile(
  { claims, userinfo }: ProfileSources,
  isProof: (claims: Readonly<Record<string, unknown>>) => boolean,
) {
  const more = await userinfo();
  const found = claims.email === undefined && more ? more : claims;
  return { subject: claims.sub, email: found.email, emailIsProof: isProof(found) };
}
