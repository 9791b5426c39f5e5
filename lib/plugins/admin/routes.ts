import * as z from 'zod';
import { deletionProblems } from '../../accounts/deletion.js';
import { requireNewPassword } from '../../accounts/required-password.js';
import type { Core } from '../../core/core.js';
import { messageOf } from '../../errors.js';
import { resources, sessionReply, signInMethodsOf } from '../../http/present.js';
import { named, pageOptions, pageQuery, route, text } from '../../http/route.js';
import { say } from '../../phrases.js';
import { FRESH_SECONDS, requireFresh } from '../../sessions/signed-in.js';
import { shownAgain } from '../../shown-again.js';
import { act } from './acting.js';
import { type AdminApi, faultsOfNewUser } from './api.js';

export const listUsers = (core: Core, api: AdminApi) => {
  const { userForAdmins: user } = resources(core);
  return route({
    method: 'get',
    path: '/admin/users',
    client: 'admin.listUsers',
    summary: 'List users, newest first',
    access: 'admin',
    query: z.object({
      ...pageQuery,
      search: z.union([z.literal(''), text(254)]).optional(),
    }),
    answers: {
      200: {
        description: 'A page of users, and the cursor of the next page',
        schema: z.object({ users: z.array(user.schema), next_cursor: z.string().nullable() }),
      },
    },
    async handle({ query: { search, ...query } }) {
      const page = await api.listUsers({ ...pageOptions(query), ...(search !== undefined && { search }) });
      return { status: 200, body: { users: page.users.map(user.present), next_cursor: page.nextCursor } };
    },
  });
};

export const getUser = (core: Core) => {
  const { userForAdmins: user } = resources(core);
  const methods = signInMethodsOf(core);
  return route({
    method: 'get',
    path: '/admin/users/:id',
    client: 'admin.getUser',
    summary: "Get a user and the user's sign-in methods",
    access: 'admin',
    answers: {
      200: {
        description: 'The user, and which of the enabled sign-in methods the user has',
        schema: z.object({
          user: user.schema,
          sign_in_methods: methods.schema,
          second_factor: z.boolean().describe('Whether a sign-in asks for a second factor'),
        }),
      },
    },
    problems: ['user_not_found'],
    async handle({ params: { id = '' } }) {
      const record = await core.users.require(id);
      return {
        status: 200,
        body: {
          user: user.present(core.users.forCode(record)),
          sign_in_methods: await methods.of(record),
          second_factor: core.secondFactors.isOn(record.account),
        },
      };
    },
  });
};

/** The app's fields, and the username if usernames are enabled. */
function editable(core: Core, purpose: 'create' | 'update') {
  return {
    ...(core.usernames && { username: shownAgain(text(100).optional()) }),
    ...core.users.fields.wireShape('code', purpose),
  };
}

function usernameIn(body: object): string | undefined {
  return (body as { username?: string }).username;
}

const takenIf = (core: Core) => (core.usernames ? (['username_taken'] as const) : []);

export const createUser = (core: Core, api: AdminApi) => {
  const { userForAdmins: user } = resources(core);
  const inputIn = (body: { email?: string | undefined }) => ({
    email: body.email,
    username: usernameIn(body),
    fields: core.users.fields.fromWire(body),
  });
  return route({
    method: 'post',
    path: '/admin/users',
    client: 'admin.createUser',
    summary:
      'Create a user without a password; if email is configured, the user gets an invitation to choose one',
    access: 'admin',
    sensitive: { asks: 'fresh', within: core.administration.fresh },
    body: z.strictObject({ email: shownAgain(text(320).optional()), ...editable(core, 'create') }),
    answers: { 201: { description: 'The new user', schema: z.object({ user: user.schema }) } },
    problems: ['email_taken', ...takenIf(core)],
    faultsOf: async (body) => faultsOfNewUser(core, inputIn(body)),
    async handle({ auth, body }) {
      const created = await api.createUser({ ...inputIn(body), adminId: auth.user.id });
      return { status: 201, body: { user: user.present(created) } };
    },
  });
};

export const updateUser = (core: Core, api: AdminApi) => {
  const { userForAdmins: user } = resources(core);
  return route({
    method: 'patch',
    path: '/admin/users/:id',
    client: 'admin.updateUser',
    summary: 'Change the username and fields of a user',
    access: 'admin',
    sensitive: { asks: 'fresh', within: core.administration.fresh },
    body: named(
      'UserInput',
      'The values of a user that administrators can set, including fields that users cannot set themselves',
      z.strictObject(editable(core, 'update')),
    ),
    answers: { 200: { description: 'The user', schema: z.object({ user: user.schema }) } },
    problems: ['user_not_found', ...takenIf(core)],
    async handle({ params: { id = '' }, auth, body }) {
      const username = usernameIn(body);
      if (id === auth.user.id && username !== undefined) {
        // This changes the administrator's own sign-in method, so require the same as PATCH /me.
        core.secondFactors.requireFor(auth.user, auth.session, FRESH_SECONDS);
        requireFresh(core.database, auth.session);
      }
      const updated = await api.updateUser(id, {
        username,
        fields: core.users.fields.fromWire(body),
        adminId: auth.user.id,
      });
      return { status: 200, body: { user: user.present(updated) } };
    },
  });
};

export const deleteUser = (core: Core, api: AdminApi) =>
  route({
    method: 'delete',
    path: '/admin/users/:id',
    client: 'admin.deleteUser',
    summary: 'Delete a user, after a recent sign-in',
    access: 'admin',
    sensitive: { asks: 'fresh', within: Math.min(FRESH_SECONDS, core.administration.fresh) },
    answers: { 204: { description: 'The user was deleted' } },
    problems: ['user_not_found', 'own_account', ...deletionProblems(core)],
    async handle({ params: { id = '' }, auth }) {
      await api.deleteUser(id, { adminId: auth.user.id });
      return { status: 204 };
    },
  });

export const listUserSessions = (core: Core, api: AdminApi) => {
  const { sessionForAdmins: session } = resources(core);
  return route({
    method: 'get',
    path: '/admin/users/:id/sessions',
    client: 'admin.listUserSessions',
    summary: 'List the active sessions of a user, newest first',
    access: 'admin',
    answers: {
      200: { description: 'The sessions', schema: z.object({ sessions: z.array(session.schema) }) },
    },
    problems: ['user_not_found'],
    async handle({ params: { id = '' } }) {
      const sessions = await api.listUserSessions(id);
      return { status: 200, body: { sessions: sessions.map(session.present) } };
    },
  });
};

export const revokeUserSession = (api: AdminApi) =>
  route({
    method: 'delete',
    path: '/admin/users/:id/sessions/:sessionId',
    client: 'admin.revokeUserSession',
    summary: 'Revoke one session of a user',
    access: 'admin',
    answers: { 204: { description: 'The session was revoked' } },
    problems: ['session_not_found'],
    async handle({ params: { id = '', sessionId = '' }, auth }) {
      await api.revokeUserSession(id, sessionId, { adminId: auth.user.id });
      return { status: 204 };
    },
  });

export const revokeUserSessions = (api: AdminApi) =>
  route({
    method: 'post',
    path: '/admin/users/:id/revoke-sessions',
    client: 'admin.revokeUserSessions',
    summary: 'Revoke all sessions of a user',
    access: 'admin',
    answers: {
      200: { description: 'The number of revoked sessions', schema: z.object({ revoked: z.int() }) },
    },
    problems: ['user_not_found'],
    async handle({ params: { id = '' }, auth }) {
      return { status: 200, body: { revoked: await api.revokeUserSessions(id, { adminId: auth.user.id }) } };
    },
  });

export const requirePassword = (core: Core) =>
  route({
    method: 'post',
    path: '/admin/users/:id/require-new-password',
    client: 'admin.requireNewPassword',
    summary: 'Require a user to choose a new password, and revoke all of their sessions',
    access: 'admin',
    sensitive: { asks: 'fresh', within: core.administration.fresh },
    forms: true,
    answers: { 204: { description: 'The user must choose a new password' } },
    problems: ['user_not_found', 'own_account'],
    async handle({ params: { id = '' }, auth }) {
      await requireNewPassword(core, id, auth.user.id);
      return { status: 204 };
    },
  });

export const sendPasswordReset = (core: Core, api: AdminApi) =>
  route({
    method: 'post',
    path: '/admin/users/:id/send-password-reset',
    client: 'admin.sendPasswordReset',
    summary: 'Email a user a link to choose a new password',
    access: 'admin',
    sensitive: { asks: 'fresh', within: core.administration.fresh },
    forms: true,
    answers: { 202: { description: 'The link is being sent' } },
    problems: ['user_not_found', 'email_missing', 'rate_limited'],
    async handle({ params: { id = '' }, auth }) {
      await api.sendPasswordReset(id, { adminId: auth.user.id });
      return { status: 202 };
    },
  });

/** Lets an administrator act as a user. @param minutes how long it lasts */
export const actAsUser = (core: Core, minutes: number) => {
  const { user, session } = resources(core);
  return route({
    method: 'post',
    path: '/admin/users/:id/act',
    client: 'admin.actAs',
    session: 'changes',
    summary:
      "Act as a user, to look at the app as the user sees it: the new session replaces the administrator's own in this browser",
    access: 'admin',
    byCookieOnly: true,
    sensitive: { asks: 'fresh', within: Math.min(FRESH_SECONDS, core.administration.fresh) },
    body: z.strictObject({
      reason: shownAgain(
        z
          .string()
          .regex(/^(?=.*\S)[^\p{C}\p{Zl}\p{Zp}]{1,255}$/u, messageOf(say('invalid-reason', { maximum: 255 })))
          .describe('A note for administrators, which the user never sees'),
      ),
    }),
    answers: {
      200: {
        description: 'The user and the acting session, whose token is in the cookie only',
        schema: z.object({ user: user.schema, session: session.schema }),
      },
    },
    problems: [
      'user_not_found',
      'own_account',
      'target_is_administrator',
      'permission_required',
      ...core.contributions.flatMap(({ accountProblems = [] }) => accountProblems),
    ],
    async handle({ params: { id = '' }, auth, body: { reason } }) {
      return sessionReply(core, await act(core, auth, id, { reason: reason.trim(), minutes }));
    },
  });
};
