import { describe, expect, test } from '@jest/globals';
import {
  type AuthConfig,
  createAuth,
  credentialPassword,
  type OrganizationsOptions,
  organizations,
} from '../../../lib/index.js';
import { SECRET } from '../../support/app.js';

const create = (config: Partial<AuthConfig<never>>) =>
  createAuth({ database: 'sqlite::memory:', secret: SECRET, ...config } as never);

describe('options that are rejected', () => {
  test.each<[OrganizationsOptions, RegExp]>([
    [{ roles: { owner: [] } }, /roles must not contain owner, which has every permission/],
    [{ roles: { boss: ['*'] } }, /roles must not give the role boss the permission \*, which only owner has/],
    [{ roles: { Boss: [] } }, /roles contains the role Boss/],
    [{ roles: { boss: ['everything'] } }, /roles contains everything for the role boss/],
    [{ maxMembers: 0 }, /maxMembers must be a whole number from 1/],
    [{ maxOwned: 1.5 }, /maxOwned must be a whole number from 1/],
    [{ invitationDays: 366 }, /invitationDays must be a whole number from 1 to 365/],
    [{ creation: 'nobody' as never }, /creation must be 'anyone' or 'administrators'/],
    [{ signup: true } as never, /signup is not an option.*signUp/],
  ])('%j', (options, message) => {
    expect(() => organizations(options)).toThrow(message);
  });

  test('creation by administrators without administrators', () => {
    const plugins = [credentialPassword(), organizations({ creation: 'administrators' })] as never;
    expect(() => create({ plugins })).toThrow(/requires administrators: add admin\(\) to plugins/);
  });

  test.each(['createOrganization', 'deleteOrganization'] as const)('hooks.%s without the plugin', (name) => {
    const config = { plugins: [credentialPassword()] as never, hooks: { [name]: () => undefined } };
    expect(() => create(config)).toThrow(
      `latchkey: hooks.${name} requires organizations(): add it to plugins`,
    );
  });

  test('a sign-up field that the acceptance of an invitation has already', () => {
    const plugins = [credentialPassword(), organizations()] as never;
    const config = { plugins, baseUrl: 'http://x.example.com', email: { send: () => undefined } };
    const user = { fields: { token: { type: 'string' } } } as never;
    expect(() => create({ ...config, user })).toThrow(/user\.fields\.token/);
  });
});
