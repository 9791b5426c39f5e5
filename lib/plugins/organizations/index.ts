import { readOptions } from '../../config/options.js';
import { ExpiredRows } from '../../database/chores.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import type { ModelsOf } from '../../tables/model.js';
import { followAccounts } from './accounts.js';
import { OrganizationsApi } from './api.js';
import { OrganizationChanges } from './changes.js';
import { MAIL_KIND, TABLES } from './declarations.js';
import { importerOf } from './import.js';
import { Invitations } from './invitations.js';
import { MembershipsOfRoutes, OrganizationMemberships } from './memberships.js';
import { type OrganizationsOptions, schema, settingsOf } from './options.js';
import { canCreate, invitationRoutes, organizationRoutes } from './routes.js';
import { OrganizationRows } from './rows.js';

/** The models that {@link organizations} adds to `auth.models`. */
export interface OrganizationsModels extends ModelsOf<typeof TABLES> {}

/**
 * Adds organizations: groups of users who share data of your app. `requireMember` guards the routes of an organization.
 *
 * @throws TypeError on invalid options
 *
 * @example
 * const auth = createAuth({ …, plugins: [credentialPassword(), organizations()] });
 * app.get('/:organization/projects', requireMember(auth), (req, res) => res.json({ of: req.auth.organization.id }));
 */
export function organizations(
  options: OrganizationsOptions = {},
): Plugin<'organizations', OrganizationsApi, OrganizationsModels> {
  const settings = settingsOf(readOptions('organizations', schema, options));
  return definePlugin({
    name: 'organizations',
    setup(core, plugins) {
      if (settings.creation === 'administrators' && !plugins.some(({ name }) => name === 'admin'))
        throw new TypeError(
          "latchkey: organizations: creation: 'administrators' requires administrators: add admin() to plugins",
        );
      const rows = new OrganizationRows(core);
      const changes = new OrganizationChanges(core, rows, settings);
      const memberships = new MembershipsOfRoutes(core, rows);
      const services = { core, rows, changes, memberships, settings };
      const invitations = core.mails && new Invitations(core, core.mails, services);
      return {
        api: new OrganizationsApi(core, rows, changes, invitations),
        tables: TABLES,
        memberships: new OrganizationMemberships(core, rows, settings.roles),
        importsOrganizations: importerOf(core, rows, settings),
        forPages: {
          organizations: {
            canCreate: (user) => canCreate(core, settings, user),
            createsAccounts: () => invitations?.createsAccounts === true,
            roles: changes.rolesByRights(),
            rightsOf: (role) => changes.rightsOf(role),
            ownedAlone: ({ id }) => rows.ownedAlone(id),
            roleOf: async (organizationId, { id }) => (await rows.memberOf(organizationId, id))?.role ?? null,
          },
        },
        expired: [new ExpiredRows(core.database, rows.invitations.name, 'id', { expires_at: 0 })],
        routes: () => [
          ...organizationRoutes(services),
          ...(invitations ? invitationRoutes({ ...services, invitations }) : []),
        ],
        ...(invitations && {
          invites: (email, transaction) => invitations.isInvited(email, transaction),
          writesMails: { [MAIL_KIND]: (ref) => invitations.issue(ref) },
        }),
        ...followAccounts(core, rows, changes),
      };
    },
  });
}
