import { snakeCase } from '../../tables/column.js';
import { ownFields } from '../entrance/fields.js';
import { type Page, type PageForm, page } from '../page.js';
import type { Site } from '../site.js';
import { deviceName } from '../texts.js';
import { type AdministeredUser, stateOf } from './administered.js';
import {
  type AdministeredSession,
  type OwnFact,
  type SignInMethods,
  type UserEvent,
  type UserValues,
  viewOf,
} from './user-view.js';

interface FoundUser {
  readonly user: AdministeredUser;
  readonly sign_in_methods: SignInMethods;
  readonly second_factor: boolean;
}

interface FoundSession extends Omit<AdministeredSession, 'device' | 'end'> {
  readonly user_agent: string | null;
}

interface FoundEvent extends Omit<UserEvent, 'device'> {
  readonly user_agent: string | null;
}

const NAME = 'administration/users/user';
const EVENTS = '10';

/** The forms, with their routes and what is said once they are done. */
const FORMS = [
  ['edit', 'patch /admin/users/:id', 'user-changed'],
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
      ? [{ name, route, next: ({ params: { id = '' } }) => site.page(NAME, { done, params: { id } }) }]
      : [];
  });
  if (remove)
    forms.push({
      name: 'delete',
      route: remove,
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
      const { user, sign_in_methods: methods, second_factor } = await site.read<FoundUser>(read, visit);
      const { sessions } = await site.read<{ sessions: FoundSession[] }>(list, visit);
      const state = stateOf(site, user, visit.auth?.user.id);
      const { isOwn, isClosed, isSuspended } = state;
      const formIf = (condition: boolean, name: string) =>
        condition && names.has(name) ? site.form(visit, { path }, name) : null;
      const edit = formIf(true, 'edit');
      const fields = ownFields(site, user, 'administrator');
      const { usernames } = site.core;
      const removeForm = formIf(!isOwn && !isClosed, 'delete');
      return {
        user,
        ...state,
        methods,
        secondFactor: site.route('get /two-factor') ? second_factor : null,
        facts: factsOf(site, user),
        sessions: await Promise.all(
          sessions.map(async ({ user_agent: agent, ...session }) => ({
            ...session,
            device: await deviceName(agent),
            end: site.form(visit, { path }, 'end-session/:sessionId', { id: user.id, sessionId: session.id }),
          })),
        ),
        endSessions: formIf(sessions.length > 1, 'end-sessions'),
        edit:
          edit && (usernames || fields.length > 0)
            ? { ...edit, username: usernames ? (user.username_display ?? user.username ?? '') : null, fields }
            : null,
        suspend: formIf(!isOwn && !isSuspended, 'suspend'),
        reinstate: formIf(isSuspended, 'reinstate'),
        // A sign-in to an account whose deletion is pending is refused, with any password.
        sendPasswordReset: formIf(user.email !== null && !isClosed, 'send-password-reset'),
        requireNewPassword: formIf(!isOwn && methods.password === true && !isClosed, 'require-new-password'),
        disableSecondFactor: formIf(!isOwn && second_factor, 'disable-second-factor'),
        remove: removeForm && { ...removeForm, graceDays },
        events: events
          ? await Promise.all(
              (
                await site.read<{ events: FoundEvent[] }>(events, visit, undefined, {
                  user_id: user.id,
                  limit: EVENTS,
                })
              ).events.map(async ({ user_agent: agent, ...event }) => ({
                ...event,
                device: await deviceName(agent),
              })),
            )
          : null,
      };
    },
    view: viewOf,
  });
}

/** Returns the app's own fields that administrators see. */
function factsOf({ core }: Site, user: AdministeredUser): readonly OwnFact[] {
  return Object.entries(core.settings.user.fields).flatMap(([key, { type }]) => {
    const name = snakeCase(key);
    return name in user ? [{ name, type, value: user[name] }] : [];
  });
}
