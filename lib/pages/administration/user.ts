import type { Session } from '../../client/generated/shapes.js';
import { deviceNameOf } from '../../mail/messages.js';
import { covers } from '../../permissions.js';
import { snakeCase } from '../../tables/column.js';
import { labelOf } from '../controls.js';
import { ownFields } from '../own-fields.js';
import { type Page, type PageForm, page, type Visit } from '../page.js';
import { providerName } from '../providers.js';
import { allOf, type Site } from '../site.js';

import { type AdministeredUser, administered, type FoundUser, stateOf } from './administered.js';
import { HAS_USERNAME, type OwnFact, type RoleChoice, type UserValues, userView } from './user-view.js';

const NAME = 'administration/users/user';
const EVENTS = '10';

/** The forms, with their routes and the keys of their success messages. */
const FORMS = [
  ['edit', 'patch /admin/users/:id', 'user-changed'],
  ['roles', 'put /admin/users/:id/roles', 'user-roles-changed'],
  ['suspend', 'post /admin/users/:id/suspend', 'user-suspended'],
  ['reinstate', 'post /admin/users/:id/reinstate', 'user-reinstated'],
  ['send-password-reset', 'post /admin/users/:id/send-password-reset', 'sent'],
  ['require-new-password', 'post /admin/users/:id/require-new-password', 'new-password-required'],
  ['disable-second-factor', 'post /admin/users/:id/disable-second-factor', 'second-factor-disabled'],
  ['end-session/:sessionId', 'delete /admin/users/:id/sessions/:sessionId', 'session-ended'],
  ['end-sessions', 'post /admin/users/:id/revoke-sessions', 'sessions-ended'],
] as const;

export function user(site: Site): Page | null {
  const path = '/administration/users/:id';
  const [read, list] = [site.route('get /admin/users/:id'), site.route('get /admin/users/:id/sessions')];
  if (!read || !list) return null;
  const events = site.route('get /admin/events');
  const remove = site.route('delete /admin/users/:id');
  const { graceDays } = site.core.settings.accountDeletion;
  const forms: PageForm[] = FORMS.flatMap(([name, routeName, done]) => {
    const route = site.route(routeName);
    return route
      ? [
          {
            name,
            route,
            ...(name === 'edit' && {
              errors: { username_taken: 'username' },
              ownFields: ['username', HAS_USERNAME],
              translate: usernameIn,
            }),
            ...(name === 'roles' && {
              errors: { email_unproven: 'roles', permission_required: 'roles' },
              // Browsers do not send unchecked boxes, so a form without a role takes all of them.
              translate: (fields) => ({ roles: fields.get('roles') ?? '[]' }),
            }),
            next: ({ params: { id = '' } }) => site.page(NAME, { done, params: { id } }),
          },
        ]
      : [];
  });
  const act = site.route('post /admin/users/:id/act');
  // The pages of the account are closed from then on.
  if (act) forms.push({ name: 'act', route: act, next: () => site.home });
  if (remove)
    forms.push({
      name: 'delete',
      route: remove,
      async confirmation(visit) {
        const { user } = await site.read(read, visit);
        return confirmationFor(administered(site, user));
      },
      next: ({ params: { id = '' } }) =>
        graceDays > 0
          ? site.page(NAME, { done: 'user-closed', params: { id } })
          : site.page('administration/users', { done: 'user-deleted' }),
    });
  const names = new Set(forms.map(({ name }) => name));
  return page<UserValues>({
    name: NAME,
    path,
    kind: 'account',
    access: 'admin',
    forms,
    async values(visit) {
      const { id: user_id = '' } = visit.params;
      const ofUser = { user_id, limit: EVENTS };
      const [{ user: json, sign_in_methods, second_factor }, { sessions }, found] = await allOf([
        site.read(read, visit),
        site.read(list, visit),
        events ? site.read(events, visit, ofUser) : null,
      ]);
      const user = administered(site, json);
      const { recovery_codes_left: recoveryCodesLeft, providers, ...methods } = sign_in_methods;
      const state = stateOf(site, user, visit.auth?.user.id);
      const { isOwn, isClosed, isSuspended } = state;
      const formIf = (condition: boolean, name: string) =>
        condition && names.has(name) ? site.form(visit, { path }, name) : null;
      const edit = formIf(true, 'edit');
      const fields = ownFields(site, json, 'administrator');
      const { usernames } = site.core;
      const removeForm = formIf(!isOwn && !isClosed, 'delete');
      const roles = site.route('put /admin/users/:id/roles') ? (json.roles ?? []) : null;
      const changeRoles = formIf(!isOwn && roles !== null, 'roles');
      return {
        user,
        list: site.page('administration/users'),
        ...state,
        restorableUntil: restorableUntil(site, user),
        methods: {
          ...methods,
          ...(providers && { providers: providers.map((one) => providerName(site, one)) }),
          ...(recoveryCodesLeft !== undefined && { recoveryCodesLeft }),
        },
        secondFactor: site.route('get /two-factor') ? second_factor : null,
        facts: factsOf(site, json),
        sessions: await Promise.all(
          sessions.map(async ({ id: sessionId, last_active_at: lastActiveAt, acting, ...row }) => ({
            id: sessionId,
            lastActiveAt,
            isActing: acting === true,
            ...(await shownOf(row)),
            end: site.form(visit, { path }, 'end-session/:sessionId', { id: user.id, sessionId }),
          })),
        ),
        endSessions: formIf(sessions.length > 1, 'end-sessions'),
        edit:
          edit && (usernames || fields.length > 0)
            ? { ...edit, username: usernames ? (user.username ?? '') : null, fields }
            : null,
        roles,
        changeRoles: changeRoles && { ...changeRoles, choices: choicesOf(site, roles ?? [], visit.auth) },
        suspend: formIf(!isOwn && !isSuspended, 'suspend'),
        reinstate: formIf(isSuspended, 'reinstate'),
        // An account whose deletion is pending rejects every sign-in, with any password.
        sendPasswordReset: formIf(user.email !== null && !isClosed, 'send-password-reset'),
        requireNewPassword: formIf(!isOwn && methods.password === true && !isClosed, 'require-new-password'),
        disableSecondFactor: formIf(!isOwn && second_factor, 'disable-second-factor'),
        act: formIf(!isOwn && !isSuspended && !isClosed, 'act'),
        remove: removeForm && { ...removeForm, graceDays, confirmation: confirmationFor(user) },
        events: found
          ? await Promise.all(
              found.events.map(async ({ kind, ...row }) => ({ kind, ...(await shownOf(row)) })),
            )
          : null,
      };
    },
    view: userView,
  });
}

/**
 * Returns the roles that a user has or can get. An administrator can give and take a role only with permissions that cover
 * the role's own.
 */
function choicesOf({ core }: Site, given: readonly string[], auth: Visit['auth']): readonly RoleChoice[] {
  const { permissions } = core;
  if (!permissions || !auth) return [];
  const { roles, defaultRole } = permissions;
  const own = core.permissionsOf(auth.user);
  const names = [...new Set([...roles.names.filter((name) => name !== defaultRole), ...given])];
  return names.map((name) => ({
    name,
    isGiven: given.includes(name),
    isFixed: !covers(own, roles.permissionsOf([name])),
  }));
}

/** Returns the username of the form. A user who has none can be left without one, but no username can be removed. */
function usernameIn(fields: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  const username = fields.get('username');
  const isLeftOut = !username && !fields.get(HAS_USERNAME);
  return username === undefined || isLeftOut ? {} : { username };
}

/** Returns the end of the grace period of an account. Null if it is over, or if no deletion is pending. */
function restorableUntil({ core }: Site, { deletedAt }: AdministeredUser): string | null {
  if (deletedAt === null) return null;
  const until = Date.parse(deletedAt) + core.settings.accountDeletion.graceDays * DAY_MS;
  return until > core.database.clock.now() ? new Date(until).toISOString() : null;
}

const DAY_MS = 86_400_000;

/** Returns what an administrator types before a user is deleted. */
function confirmationFor({ email, username }: AdministeredUser): string | null {
  return email ?? username ?? null;
}

async function shownOf({
  created_at,
  ip_address,
  user_agent,
}: Pick<Session, 'created_at' | 'ip_address' | 'user_agent'>) {
  return { createdAt: created_at, ipAddress: ip_address, device: await deviceNameOf(user_agent) };
}

/** Returns the app's own fields that administrators see. */
function factsOf({ core }: Site, user: FoundUser): readonly OwnFact[] {
  return Object.entries(core.settings.user.fields).flatMap(([key, options]) => {
    const { type, labels = {}, onPages = true } = options;
    const name = snakeCase(key);
    return onPages && name in user
      ? [{ name, label: options.label ?? labelOf(name), type, labels, value: user[name] }]
      : [];
  });
}
