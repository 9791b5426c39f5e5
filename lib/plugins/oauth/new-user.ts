import { withTimeout } from '../../context/deadline.js';
import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import type { FieldValues } from '../../users/core-fields.js';
import type { Identity } from './client.js';
import { describe } from './openid-client.js';
import type { Claims, Provider } from './provider.js';
import { isObject } from './token-response.js';

const FIELDS_MS = 2000;

/** What is known of a person who has no account yet. */
export interface NewPerson {
  /** As the provider said it. Frozen, since it goes to the app's code. */
  readonly claims: Claims;
  readonly fields: FieldValues;
}

/**
 * Asks the app's function for the fields of a new user. Values that break the rules of their field are left out.
 *
 * @throws AuthError `sign_up_incomplete` if a required one is missing; `provider_error` if the function throws or takes
 *   longer than 2 seconds
 */
export async function readPerson(core: Core, provider: Provider, identity: Identity): Promise<NewPerson> {
  const { logger } = core.settings;
  const warn = (what: string) => logger.warn(`latchkey: provider ${provider.id}: ${what}`);
  try {
    const claims = frozen(structuredClone(identity.claims));
    const asked = core.context.detached(async () => provider.fields?.(claims));
    const given = await withTimeout(asked, FIELDS_MS, () => new Error('the function took too long'));
    const fields = core.fields.onlyValid(isObject(given) ? given : {});
    const missing = core.fields.missingIn({ ...core.fields.defaults, ...fields });
    if (missing.length === 0) return { claims, fields };
    const names = missing.join(', ');
    warn(`a new user was refused, since required fields are missing or not valid: ${names}`);
    throw new AuthError('sign_up_incomplete', {
      detail: `The provider did not give what is required: ${names}.`,
    });
  } catch (error) {
    if (error instanceof AuthError) throw error;
    warn(`the fields of a new user could not be read: ${describe(error)}`);
    throw new AuthError('provider_error');
  }
}

/** Freezes a JSON value, without recursion: a provider decides how deeply it is nested. */
function frozen(claims: Claims): Claims {
  const values: unknown[] = [claims];
  for (const value of values) {
    if (typeof value === 'object' && value !== null) values.push(...Object.values(Object.freeze(value)));
  }
  return claims;
}
