import type { FactorMethod, Reauthentication } from '../../core/contribution.js';
import type { Assertions } from './assertions.js';
import { assuranceOf, type Parts, reauthenticationIn } from './assertions.js';
import { authenticationResponse, requestOptions } from './schemas.js';
import type { PasskeyResponse } from './webauthn.js';

/** A passkey as the field `passkey` of POST /reauthenticate. */
export function reauthentication(assertions: Assertions): Reauthentication {
  return {
    field: 'passkey',
    schema: authenticationResponse(),
    problems: ['invalid_passkey'],
    async verify({ user }, response, { id: sessionId }) {
      const ceremony = reauthenticationIn(sessionId);
      const { passkey } = await assertions.verify(response as PasskeyResponse, ceremony, user.id);
      return assuranceOf(passkey);
    },
  };
}

/** A passkey as the second step of a sign-in, for the plugin that has second factors. */
export function factorMethod({ core, store }: Parts, assertions: Assertions): FactorMethod {
  const stepOf = (pendingId: string) => ({ purpose: 'second-factor', binding: pendingId }) as const;
  return {
    name: 'passkey',
    isAvailable: async (userId) => (await store.rows(userId)).length > 0,
    async options(userId, pendingId) {
      await core.limiter.countAccount('passkeyOptions', userId);
      return { ...(await assertions.options(stepOf(pendingId), userId)) };
    },
    optionsSchema: requestOptions(),
    responseSchema: authenticationResponse(),
    problems: ['invalid_passkey'],
    async verify({ user }, response, pendingId) {
      const { passkey } = await assertions.verify(response as PasskeyResponse, stepOf(pendingId), user.id);
      return assuranceOf(passkey);
    },
  };
}
