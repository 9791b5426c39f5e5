import { createHmac } from 'node:crypto';
import type { Claims, Provider, ProviderPlugin } from '../provider.js';
import { isObject } from '../token-response.js';
import { namedService, userOf } from './oauth2.js';
import { verified } from './oidc.js';
import { type EndpointOptions, endpointSchema, readProvider } from './options.js';

/**
 * Adds sign-in with Facebook. Facebook does not report whether an email is verified, so the email is never proof.
 *
 * Requests to its API include an `appsecret_proof`. An app can require it, so that a stolen access token is useless.
 * Facebook adds the fragment `#_=_` to the redirect URI. Unlinking deletes the permissions that the person has granted.
 *
 * @see https://developers.facebook.com/docs/graph-api/reference/user/
 * @see https://developers.facebook.com/docs/graph-api/guides/secure-requests#appsecret_proof
 * @see https://developers.facebook.com/docs/graph-api/changelog/versions/ on how long a version is available
 * @see https://stackoverflow.com/questions/19170006 on `#_=_`
 * @see https://developers.facebook.com/docs/facebook-login/guides/permissions/request-revoke#revokelogin
 * @see https://developers.facebook.com/docs/graph-api/guides/error-handling on errors, which are objects
 * @see https://stackoverflow.com/questions/14575477 on the errors of the token endpoint
 */
export function facebook(options: EndpointOptions): ProviderPlugin {
  const read = readProvider('facebook', endpointSchema, options);
  const proven = (url: string, accessToken: string) => {
    const signed = new URL(url);
    const proof = createHmac('sha256', read.clientSecret).update(accessToken).digest('hex');
    signed.searchParams.set('appsecret_proof', proof);
    return signed.href;
  };
  return namedService('facebook', read, {
    issuer: 'https://www.facebook.com',
    endpoints: {
      authorizationUrl: 'https://www.facebook.com/v26.0/dialog/oauth',
      tokenUrl: 'https://graph.facebook.com/v26.0/oauth/access_token',
      userinfoUrl: 'https://graph.facebook.com/v26.0/me?fields=id,name,email',
      revocationUrl: 'https://graph.facebook.com/v26.0/me/permissions',
    },
    scopes: ['email'],
    addsFragment: true,
    errorOf,
    async profile({ get, accessToken }, { userinfoUrl }) {
      const user = await userOf(get, proven(userinfoUrl, accessToken));
      return { subject: user.id, email: user.email, ...verified(false), claims: user };
    },
    revocation: ({ accessToken }, url) =>
      accessToken === null
        ? null
        : {
            url: proven(url, accessToken),
            method: 'DELETE',
            headers: { authorization: `Bearer ${accessToken}` },
          },
  });
}

// The code 1 also stands for an unknown error, and 100 for any parameter that is not valid.
const WRONG_APP = 101;
const INVALID_TOKEN = 190;

function errorOf({ error }: Claims): ReturnType<NonNullable<Provider['errorOf']>> {
  if (!isObject(error)) return undefined;
  const { code, message } = error;
  if (code === WRONG_APP || /client secret/i.test(String(message))) return 'invalid_client';
  return code === INVALID_TOKEN || /verification code|authorization code/i.test(String(message))
    ? 'invalid_grant'
    : undefined;
}
