import * as z from 'zod';
import type { UserPermissions } from '../../core/account-features.js';
import type { Core } from '../../core/core.js';
import { resources } from '../../http/present.js';
import { route, text } from '../../http/route.js';
import { FRESH_SECONDS } from '../../sessions/signed-in.js';
import { shownAgain } from '../../shown-again.js';
import type { RolesApi } from './api.js';

/** The maximum number of names in a request, of which some can be repeated. */
const MAX_NAMES = 100;

export const setRoles = (core: Core, api: RolesApi, { roles }: UserPermissions) => {
  const { userForAdmins } = resources(core);
  // The names are only documented here, because a user can have a role that is no longer configured.
  const name = text(100).meta({ examples: roles.names });
  return route({
    method: 'put',
    path: '/admin/users/:id/roles',
    client: 'admin.setRoles',
    summary: 'Set the roles of a user, after a recent sign-in',
    access: 'admin',
    sensitive: { asks: 'fresh', within: Math.min(FRESH_SECONDS, core.administration.fresh) },
    formTwin: '/admin/users/:id/set-roles',
    body: z.strictObject({
      roles: shownAgain(
        z.array(name).max(MAX_NAMES).describe('All roles of the user, without the role that every user has'),
      ),
    }),
    answers: { 200: { description: 'The user', schema: z.object({ user: userForAdmins.schema }) } },
    problems: ['user_not_found', 'own_account', 'email_unproven', 'permission_required'],
    async handle({ params: { id = '' }, auth, body }) {
      const user = await api.setByAdministrator(id, body.roles, auth.user.id);
      return { status: 200, body: { user: userForAdmins.present(user) } };
    },
  });
};
