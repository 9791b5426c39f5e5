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
  /** The issuer, as its discovery document names it. @default none, required */
  issuer: string;
  /**
   * Whether `email_verified: true` of this issuer proves that the mailbox is the person's. Say so only of an issuer that
   * lets nobody claim an address unproved.
   * @default false
   */
  trustEmailVerified?: boolean;
}

/** Any OpenID Connect provider, by discovery (OpenID Connect Discovery 1.0). */
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
    // Without it, a provider has to leave offline_access out (OpenID Connect Core 1.0, 11).
    ...(scopes?.includes('offline_access') && { authorizeParameters: { prompt: 'consent' } }),
    profile: (sources) =>
      oidcProfile(sources, (claims) => trustEmailVerified && claims.email_verified === true),
  });
}

/**
 * The profile from the ID token, or from userinfo where the ID token holds no email. Userinfo is asked either way: a
 * provider that speaks there of somebody else is not believed at all.
 *
 * @param isProof whether the claims prove that the email is the person's
 */
export async function oidcProfile(
  { claims, userinfo }: ProfileSources,
  isProof: (claims: Readonly<Record<string, unknown>>) => boolean,
) {
  const more = await userinfo();
  const found = claims.email === undefined && more ? more : claims;
  return { subject: claims.sub, email: found.email, emailIsProof: isProof(found) };
}
