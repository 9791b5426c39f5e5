import * as z from 'zod';
import { schemaOf } from '../../../config/options.js';
import { type ProviderPlugin, providerPlugin } from '../provider.js';
import { oidcProfile, verified } from './oidc.js';
import { clientOf, type DiscoveredOptions, discoveredShape, readProvider } from './options.js';

const TENANT = z
  .string()
  .regex(/^[\w.-]+$/, 'must be the id of a tenant, organizations, consumers or common');

const TENANT_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

const ENTRA = 'https://login.microsoftonline.com';

/** The tenant of all personal accounts. */
const PERSONAL = '9188040d-6c67-4c5b-b112-36a304b66dad';

/** Options of {@link microsoft}. */
export interface MicrosoftOptions extends DiscoveredOptions {
  /** The accounts to accept: a tenant id, `organizations`, `consumers` or `common`. @default `common` */
  tenant?: string;
}

/** @internal */
export const schema = () =>
  schemaOf<MicrosoftOptions>()({ ...discoveredShape, tenant: TENANT.default('common') });

// A Microsoft access token is for one API only. Userinfo accepts only tokens for Graph.
const OTHER_API = /^(?!https:\/\/graph\.microsoft\.com\/).*\//;

/**
 * Adds sign-in with Microsoft Entra ID. The email claim is never proof, because a tenant's administrator can set it to
 * any address ("nOAuth"). Microsoft has no endpoint that revokes tokens. The subject is specific to the app
 * registration, so people have to link their accounts again after a change of `clientId`.
 *
 * Microsoft's tokens expire `max_age` seconds after the sign-in, so with 0 they would already be expired on arrival.
 * Reauthentication sets `max_age` to five minutes, and requests a sign-in with `prompt=login`.
 *
 * @see https://learn.microsoft.com/entra/identity-platform/claims-validation#validate-the-subject
 * @see https://www.descope.com/blog/post/noauth
 * @see https://github.com/AzureAD/microsoft-authentication-library-for-python/issues/444 on `max_age`
 */
export function microsoft(options: MicrosoftOptions): ProviderPlugin {
  const { scopes, tenant, issuer } = readProvider('microsoft', schema, options);
  const discover = issuer ?? `${ENTRA}/${tenant}/v2.0`;
  const accepted = tenantIn(discover);
  const hasUserinfo = !scopes?.some((scope) => OTHER_API.test(scope));
  return providerPlugin({
    id: 'microsoft',
    server: { discover },
    ...(accepted !== null && { checkClaims: ({ tid }) => checkTenant(tid, accepted) }),
    hasTenants: accepted !== null && !TENANT_ID.test(accepted),
    ...clientOf(options),
    clientAuth: 'post',
    scopes: scopes ?? ['openid', 'email', 'profile', 'offline_access'],
    parametersFor: { reauthenticate: { max_age: '300', prompt: 'login' } },
    profile: (sources) =>
      oidcProfile(hasUserinfo ? sources : { ...sources, userinfo: async () => null }, () => verified(false)),
  });
}

/** Returns the tenant in an issuer of Microsoft's public cloud, in lower case. Null for any other issuer. */
function tenantIn(issuer: string): string | null {
  const { origin, pathname } = new URL(issuer);
  return origin === ENTRA ? (pathname.split('/')[1] ?? '').toLowerCase() : null;
}

/**
 * Checks the tenant of an ID token, whose issuer is already known to contain it.
 * @throws Error if it is not accepted
 */
function checkTenant(tid: unknown, accepted: string): void {
  if (typeof tid !== 'string' || !TENANT_ID.test(tid)) throw new Error('the ID token names no tenant');
  const isPersonal = tid.toLowerCase() === PERSONAL;
  const isAccepted =
    accepted === 'organizations' ? !isPersonal : accepted === 'consumers' ? isPersonal : true;
  if (!isAccepted) throw new Error(`the account is not one of the tenant ${accepted}`);
}
