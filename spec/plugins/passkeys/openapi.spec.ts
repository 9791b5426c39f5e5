import { expect, test } from '@jest/globals';
import { passkeys, twoFactor } from '../../../lib/index.js';
import { password, startApp } from '../../support/app.js';
import { PAGE } from '../../support/passkeys.js';

interface Operation {
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

const PROBLEMS: Record<string, Record<number, readonly string[]>> = {
  'post /passkeys/options': {
    403: ['email_not_verified', 'reauthentication_required', 'second_factor_required'],
    409: ['too_many_passkeys'],
    429: ['rate_limited'],
  },
  'post /passkeys': {
    401: ['invalid_passkey', 'invalid_session'],
    403: ['email_not_verified', 'second_factor_required'],
    409: ['passkey_exists', 'too_many_passkeys'],
    422: ['validation_failed'],
  },
  'patch /passkeys/{id}': { 404: ['passkey_not_found'], 422: ['validation_failed'] },
  'delete /passkeys/{id}': {
    403: ['reauthentication_required', 'second_factor_required'],
    404: ['passkey_not_found'],
    409: ['last_sign_in_method'],
  },
  'post /signin/passkey/options': { 403: ['origin_not_allowed'], 429: ['rate_limited'] },
  'post /signin/passkey': { 401: ['invalid_passkey', 'unknown_passkey'], 403: ['origin_not_allowed'] },
  'post /reauthenticate/options': { 401: ['invalid_session'], 429: ['rate_limited'] },
  'post /reauthenticate': { 401: ['invalid_passkey', 'invalid_code', 'invalid_credentials'] },
  'post /signin/second-factor': { 401: ['invalid_passkey', 'invalid_code', 'sign_in_expired'] },
  'post /signin/second-factor/options': { 401: ['sign_in_expired'], 429: ['rate_limited'] },
};

test('the OpenAPI document describes every route, with its problems', async () => {
  const app = await startApp({
    plugins: [password(), passkeys(), twoFactor()],
    config: { baseUrl: PAGE, bearerEnabled: true },
  });
  const { paths, components } = app.auth.openapi();
  await app.stop();
  for (const [name, byStatus] of Object.entries(PROBLEMS)) {
    const [method = '', path = ''] = name.split(' ');
    const operation = paths[path]?.[method] as Operation | undefined;
    for (const [status, codes] of Object.entries(byStatus)) {
      const listed = operation?.responses[status]?.description.split(', ') ?? [];
      expect({ name, status, codes: codes.filter((code) => !listed.includes(code)) }).toEqual({
        name,
        status,
        codes: [],
      });
    }
  }
  expect(components.schemas.PostSigninPasskeyOptionsResponse).toMatchObject({
    properties: { options: { type: 'object' }, pending_token: { type: 'string' } },
  });
  expect(components.schemas.PostPasskeysResponse).toMatchObject({
    properties: {
      passkey: { properties: { device_type: { enum: ['singleDevice', 'multiDevice'] } } },
    },
  });
});
