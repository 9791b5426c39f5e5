import type { Request } from 'express';
import { internalsOf } from '../auth.js';
import type { AskedMembership, Memberships } from '../core/contribution.js';
import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import { isInScopes, requireScopes } from '../http/admit.js';
import type { Middleware } from '../http/middleware.js';
import { requireKnownKeys } from '../known-keys.js';
import { covers } from '../permissions.js';
import {
  type AuthOrConfig,
  checkScopes,
  OF_SESSION_GUARD,
  requireKnownPermission,
  type SessionGuardOptions,
  sessionGuard,
} from './guards.js';
import { marked, markOfGuard } from './marks.js';
import type { GuardedAuthentication } from './request.js';

/** Options of {@link requireMember}. */
export interface RequireMemberOptions extends SessionGuardOptions {
  /**
   * Returns the id or slug of the organization. It must be synchronous. If it does not return a string, no organization is
   * found.
   * @default (req) => req.params.organization
   */
  organization?(req: Request): string | readonly string[] | undefined;
  /**
   * The parameter of the path that `organization` reads, for `npx latchkey routes --tenant`. It requires `organization`.
   * @default the command considers the guard to read no parameter
   */
  tenant?: string;
  /**
   * The permission that the member's role must have, such as `project:write`. Otherwise the member gets 403
   * `permission_required`. An API key that has scopes must also have the permission among them; otherwise it gets 403
   * `insufficient_scope`.
   * @default none: every member is admitted
   */
  permission?: string;
  /**
   * The scopes that an API key must have, as in {@link requireSession}. Cannot be combined with `permission`, which is the
   * required scope then.
   * @default []
   */
  scopes?: readonly string[];
}

const DEFAULT_PARAMETER = 'organization';

/**
 * Admits only members of the organization that the request names. Others get 404 `organization_not_found`, whether or not
 * the organization exists. Requires the plugin `organizations()`.
 *
 * Sets `req.auth` with two more properties: `organization`, which is `{ id, name, slug }`, and `membership`, which is
 * `{ role, createdAt }`. Use `req.auth.organization.id` to select your own rows, and never the parameter of the path.
 * Behind this guard, `permits(req, permission)` is about the role in the organization.
 *
 * @throws TypeError if `organizations()` is not in `plugins`, if no role has the permission, or on invalid options
 *
 * @example
 * app.get('/:organization/projects', requireMember(auth), async (req, res) => {
 *   const { id: organizationId } = req.auth.organization;
 *   res.json(await Project.findAll({ where: { organizationId } }));
 * });
 */
export function requireMember(auth: AuthOrConfig, options: RequireMemberOptions = {}): Middleware {
  requireKnownKeys('requireMember', options, [
    ...OF_SESSION_GUARD,
    'organization',
    'tenant',
    'permission',
    'scopes',
  ]);
  const { core } = internalsOf(auth);
  const { memberships } = core;
  if (!memberships)
    throw new TypeError('latchkey: requireMember requires organizations: add organizations() to plugins');
  checkOptions(core, memberships, options);
  const { organization = (req) => req.params?.[DEFAULT_PARAMETER], permission, scopes = [] } = options;
  const { roles } = memberships;
  const handler = sessionGuard('requireMember', auth, options, {
    ask: (req) => ask(memberships, organization, req),
    ...(permission !== undefined && {
      isAllowed: (_core: Core, { membership }: GuardedAuthentication) =>
        membership !== undefined && covers(roles.permissionsOf([membership.role]), [permission]),
    }),
    limitScopes(core, authentication) {
      if (permission === undefined) requireScopes(core, authentication, scopes);
      else if (!isInScopes(core, authentication, permission)) throw new AuthError('insufficient_scope');
    },
  });
  return marked(handler, describeGuard(options));
}

/** @throws TypeError on invalid options */
function checkOptions(
  core: Core,
  { roles }: Memberships,
  { organization, tenant, permission, scopes }: RequireMemberOptions,
): void {
  if (organization !== undefined && typeof organization !== 'function')
    throw new TypeError("latchkey: requireMember's organization must be a function");
  if (tenant !== undefined && (typeof tenant !== 'string' || tenant === ''))
    throw new TypeError("latchkey: requireMember's tenant must be the name of a parameter");
  if (tenant !== undefined && organization === undefined)
    throw new TypeError(
      "latchkey: requireMember's tenant requires organization, the function that reads the parameter: add it, such as organization: (req) => req.params.team",
    );
  if (permission !== undefined) requireKnownPermission('requireMember', permission, roles);
  if (scopes === undefined) return;
  if (permission !== undefined)
    throw new TypeError(
      "latchkey: requireMember's permission and scopes are mutually exclusive, because an API key needs the permission as its scope: remove scopes",
    );
  checkScopes('requireMember', core, scopes);
}

function describeGuard({ organization, permission, ...options }: RequireMemberOptions) {
  const name = permission === undefined ? 'requireMember' : `requireMember ${permission}`;
  const shown = organization ? { organization: 'own function', ...options } : options;
  const tenant = organization ? options.tenant : DEFAULT_PARAMETER;
  return { ...markOfGuard(name, shown), ...(tenant !== undefined && { tenant }) };
}

/**
 * Asks for the membership in the organization that a request names. If the app's function throws, the answer throws its error, so
 * that it is not thrown for requests that the guard rejects for another reason.
 */
function ask(
  memberships: Memberships,
  organizationOf: NonNullable<RequireMemberOptions['organization']>,
  req: Request,
): AskedMembership {
  try {
    return memberships.ask(nameIn(req, organizationOf));
  } catch (error) {
    const of = () => {
      throw error;
    };
    return Object.assign(memberships.ask(undefined), { of });
  }
}

/** Returns the name of the organization in a request. @throws TypeError if the app's function has returned a promise */
function nameIn(req: Request, organizationOf: NonNullable<RequireMemberOptions['organization']>): unknown {
  const name: unknown = organizationOf(req);
  if (!isThenable(name)) return name;
  // Nothing awaits the promise, and its rejection must not end the process.
  name.then(undefined, () => undefined);
  throw new TypeError(
    "latchkey: requireMember's organization has returned a promise: it must return the id or slug itself",
  );
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function';
}
