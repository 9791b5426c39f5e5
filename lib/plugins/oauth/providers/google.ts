import { type Claims, type ProviderPlugin, providerPlugin } from '../provider.js';
import { oidcProfile, saysVerified } from './oidc.js';
import { clientOf, type DiscoveredOptions, discoveredSchema, readProvider } from './options.js';

/**
 * Adds sign-in with Google. `email_verified: true` counts like an email that the person has answered if Google itself
 * runs the mailbox: for an address that ends in `@gmail.com`, or an account of a Workspace (`hd`). Any other address
 * might have passed to someone else since Google verified it, so it never signs anyone in to an existing account.
 *
 * Google issues a refresh token only for the first consent, so a link asks for consent again. Unlinking revokes the
 * tokens, at the endpoint that discovery names.
 *
 * Google documents neither `prompt=login` nor `max_age`. It states when the user signed in (`auth_time`) only on
 * request, and only to verified apps that have enabled "Session age claims". So reauthentication succeeds only for such
 * apps, and only right after a sign-in to Google itself.
 *
 * @see https://developers.google.com/identity/openid-connect/openid-connect#an-id-tokens-payload
 * @see https://dev.to/googleworkspace/google-oidc-and-prompt-login-4d5o on prompts
 * @see https://developers.google.com/identity/siwg/security-bundle on `auth_time`
 * @see https://developers.google.com/identity/gsi/web/guides/verify-google-id-token on when Google is authoritative
 * @see https://developers.google.com/identity/protocols/oauth2/web-server#offline
 * @see https://developers.google.com/identity/protocols/oauth2/web-server#tokenrevoke
 */
export function google(options: DiscoveredOptions): ProviderPlugin {
  const { scopes, issuer } = readProvider('google', discoveredSchema, options);
  return providerPlugin({
    id: 'google',
    server: { discover: issuer ?? 'https://accounts.google.com' },
    ...clientOf(options),
    clientAuth: 'post',
    scopes: scopes ?? ['openid', 'email', 'profile'],
    authorizeParameters: { access_type: 'offline' },
    parametersFor: {
      link: { prompt: 'consent' },
      reauthenticate: {
        max_age: '0',
        prompt: 'select_account',
        claims: JSON.stringify({ id_token: { auth_time: { essential: true } } }),
      },
    },
    profile: (sources) =>
      oidcProfile(sources, (claims) => ({
        emailIsProof: saysVerified(claims),
        emailIsAuthoritative: isHostedByGoogle(claims),
      })),
  });
}

function isHostedByGoogle({ email, hd }: Claims): boolean {
  return /@gmail\.com$/i.test(String(email)) || (typeof hd === 'string' && hd !== '');
}
