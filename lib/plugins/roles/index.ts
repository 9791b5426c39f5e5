import * as z from 'zod';
import { readOptions, schemaOf } from '../../config/options.js';
import type { UserPermissions } from '../../core/account-features.js';
import { excerpt } from '../../errors.js';
import { nearest } from '../../known-keys.js';
import { faultInRoles, Roles } from '../../permissions.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import type { RowReader } from '../../users/imported.js';
import { RolesApi, rolesOf, rolesOfRows } from './api.js';
import { rolesColumns } from './declarations.js';
import { setRoles } from './routes.js';

/** Options of {@link roles}. */
export interface RolesOptions {
  /**
   * The permissions of each role, by its name. A permission has two or three parts, such as `posts:write`. `posts:*` covers
   * every permission that starts with `posts:`, and `*` covers every permission.
   * @default none, required
   */
  roles: Readonly<Record<string, readonly string[]>>;
  /** The role that every user has, in addition to the user's own roles. It is not stored. @default none */
  default?: string;
}

/** @internal */
export const schema = () =>
  schemaOf<RolesOptions>()({
    roles: z.custom<RolesOptions['roles']>().superRefine((roles, context) => {
      const fault = faultInRoles(roles);
      if (fault !== null) context.addIssue({ code: 'custom', message: fault });
    }),
    default: z.string('must be the name of a role').optional(),
  });

/**
 * Gives users roles with permissions, which `requirePermission` and `permits` check.
 *
 * @throws TypeError on invalid options
 *
 * @example
 * const plugins = [credentialPassword(), roles({ roles: { editor: ['posts:write'] } })] as const;
 * const auth = createAuth({ …, plugins });
 * app.post('/posts', requirePermission(auth, 'posts:write'), (req, res) => res.sendStatus(201));
 */
export function roles(options: RolesOptions): Plugin<'roles', RolesApi, Record<never, never>> {
  // Without options, the error explains what is missing.
  const { roles: configured, default: defaultRole = null } = readOptions('roles', schema, options ?? {});
  const permissions = permissionsOf(new Roles(configured), defaultRole);
  return definePlugin({
    name: 'roles',
    userColumns: rolesColumns,
    accounts: { permissions },
    setup(core) {
      const api = new RolesApi(core, permissions);
      return {
        api,
        routes: () => (core.hasAdministrators ? [setRoles(core, api, permissions)] : []),
        rowReaders: [rolesOfRows(core, permissions) as RowReader],
      };
    },
  });
}

/** @throws TypeError if the default role is not configured */
function permissionsOf(all: Roles, defaultRole: string | null): UserPermissions {
  if (defaultRole !== null && !all.has(defaultRole)) {
    const near = nearest(defaultRole, all.names);
    throw new TypeError(
      `latchkey: roles: default is ${excerpt(defaultRole)}, which is not in roles: ${near ? `did you mean ${near}?` : 'add it there'}`,
    );
  }
  const ofAll = defaultRole === null ? [] : [defaultRole];
  return {
    roles: all,
    defaultRole,
    of: (user) => all.permissionsOf([...rolesOf(user), ...ofAll]),
    has: (user, role) => rolesOf(user).includes(role),
  };
}
