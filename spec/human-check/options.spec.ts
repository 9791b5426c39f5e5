import { describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { checkSettings } from '../../lib/cli/checks/settings.js';
import { altcha } from '../../lib/human-check.js';
import { type AuthConfig, createAuth, credentialPassword, emailSignIn } from '../../lib/index.js';
import { SECRET } from '../support/app.js';

const email = { send: () => undefined };

const create = (humanCheck: unknown, config: object = {}) =>
  createAuth({
    database: 'sqlite:./unused.db',
    secret: SECRET,
    baseUrl: 'http://localhost',
    plugins: [credentialPassword()],
    humanCheck: humanCheck as NonNullable<AuthConfig['humanCheck']>,
    ...config,
  });

describe('a mistake in humanCheck', () => {
  const verify = () => true;
  test.each([
    ['a missing verify', {}, /humanCheck\.verify must be a function .*altcha\(\) from latchkey\/human-check/],
    ['a function in place of its result', altcha, /humanCheck must be an object/],
    [
      'an unknown key',
      { verify, route: [] },
      /humanCheck\.route is not an option.*did you mean humanCheck\.routes/,
    ],
    [
      'an unknown route',
      { verify, routes: ['signup'] },
      /humanCheck\.routes\[0\] must be one of signup\/credential/,
    ],
    ['no routes', { verify, routes: [] }, /humanCheck\.routes must name at least one route/],
    ['a wrong onFailure', { verify, onFailure: 'allow' }, /onFailure must be 'refuse' or 'accept'/],
    [
      'routes that the config does not have',
      { verify, routes: ['signup/credential', 'signin/email', 'passwords/request-reset'] },
      /humanCheck\.routes names signin\/email, passwords\/request-reset, which this config does not have/,
    ],
  ])('such as %s is a config error', (_name, given, message) => {
    expect(() => create(given)).toThrow(message);
  });

  test('is not a default route that the config does not have', () => {
    expect(() => create({ verify })).not.toThrow();
    expect(() => create(altcha())).not.toThrow();
  });

  test('is not a route that a plugin adds', () => {
    const plugins = [credentialPassword(), emailSignIn()];
    const routes = ['signin/email', 'passwords/request-reset', 'signin/credential'] as const;
    expect(() => create(altcha({ routes }), { email, plugins })).not.toThrow();
  });
});

describe('doctor', () => {
  const found = (humanCheck: unknown, config: object = {}) =>
    [...checkSettings(internalsOf(create(humanCheck, config)).core.settings)].find(
      ({ check }) => check === 'human check',
    );

  test('shows which check asks where, and whether requests are accepted while it fails', () => {
    expect(found(undefined)).toBeUndefined();
    expect(found(altcha({ routes: ['signup/credential'] }))).toMatchObject({
      status: 'ok',
      detail: 'altcha, for signup/credential',
    });
    expect(found({ verify: () => true, onFailure: 'accept' })?.detail).toBe(
      'your own, for signup/credential, signin/email, passwords/request-reset, oauth/token; requests are accepted while it fails',
    );
  });

  test('reports that browsers cannot solve challenges over plain http', () => {
    expect(found(altcha(), { baseUrl: 'http://app.example.com' })).toMatchObject({ status: 'problem' });
    expect(found(altcha(), { baseUrl: 'https://app.example.com' })).toMatchObject({ status: 'ok' });
  });
});

describe('the OpenAPI document', () => {
  const document = (humanCheck: unknown) =>
    create(humanCheck, { email, plugins: [credentialPassword(), emailSignIn()] }).openapi();

  test('describes the header, the field and the problem of a checked route', () => {
    const { paths } = document(altcha());
    const { parameters, requestBody, responses } = (paths['/signup/credential']?.post ?? {}) as {
      parameters?: object[];
      requestBody: { content: Record<string, { schema: { properties: Record<string, object> } }> };
      responses: Record<string, { description: string }>;
    };
    expect(parameters).toEqual([
      {
        name: 'Latchkey-Human',
        in: 'header',
        required: false,
        description: 'The token of the human check',
        schema: { type: 'string' },
      },
    ]);
    const form = requestBody.content['application/x-www-form-urlencoded']?.schema.properties;
    expect(form?.human_token).toMatchObject({ type: 'string' });
    expect(JSON.stringify(requestBody.content['application/json'])).not.toContain('human_token');
    expect(responses[403]?.description).toContain('human_check_failed');
    expect(paths['/human-challenge']?.get).toBeDefined();
  });

  test('says nothing of it for other routes, and in other apps', () => {
    expect(JSON.stringify(document(altcha()).paths['/signin/credential'])).not.toMatch(/human/i);
    const { paths } = document(undefined);
    expect(JSON.stringify(paths)).not.toMatch(/human/i);
  });
});
