import * as z from 'zod';
import { type OwnUserInput, updateUser } from '../accounts/change.js';
import { deleteUser, deletionProblems } from '../accounts/deletion.js';
import { cancelEmailChange, confirmEmailChange, requestEmailChange } from '../accounts/email.js';
import { exportOwnData } from '../accounts/export.js';
import { undoChange as undo } from '../accounts/undo.js';
import {
  examineUndo,
  findUndo,
  missingUndoProofs,
  UNDO_PROOFS,
  undoProofProblems,
  undoProofShape,
} from '../accounts/undo-proof.js';
import type { Core } from '../core/core.js';
import { exportSchema, resources, secondFactorProblems, sessionReply } from '../http/present.js';
import { id, named, route, text, time } from '../http/route.js';
import { sessionOf } from '../sessions/carriers.js';
import { isSession } from '../sessions/request.js';
import { shownAgain } from '../shown-again.js';
import type { User } from '../tables/core.js';
import { readEmail } from '../users/canonical.js';
import type { UsernameRules } from '../users/usernames.js';

export const me = (core: Core) => {
  const { user, session } = resources(core);
  const others = core.carriers.filter(({ presentsSession }) => !presentsSession);
  // The fields are optional, because they are set only if the request presents this kind of credential.
  const descriptions = others.map(({ description }) => z.object(description?.schema ?? {}).partial().shape);
  const described =
    others.length > 0
      ? 'The user, and the session or API key of the request'
      : 'The user and the current session';
  return route({
    method: 'get',
    path: '/me',
    client: 'me',
    summary: 'Get the current user and session',
    access: 'authenticated',
    openTo: 'any-task',
    openToActing: true,
    answers: {
      200: {
        description: described,
        schema: named(
          'Me',
          described,
          z.object({
            user: user.schema,
            session: others.length > 0 ? session.schema.nullable() : session.schema,
            ...Object.assign({}, ...descriptions),
          }),
        ),
      },
    },
    async handle({ auth }) {
      const carrier = others.find(({ via }) => via === auth.via);
      return {
        status: 200,
        body: {
          user: user.present(auth.user),
          session: isSession(auth) ? session.present(auth.session) : null,
          ...carrier?.description?.present(auth),
        },
      };
    },
  });
};

/** Whether users can change anything. */
export function canUpdate(core: Core): boolean {
  return core.usernames !== null || Object.keys(core.users.fields.wireShape('user', 'update')).length > 0;
}

export const updateMe = (core: Core) => {
  const { user } = resources(core);
  return route({
    method: 'patch',
    path: '/me',
    client: 'updateMe',
    session: 'changes',
    formTwin: '/me/update',
    summary: "Change the current user's fields, and the username after a recent sign-in or with the password",
    access: 'session',
    body: z.strictObject({
      ...(core.usernames && { username: shownAgain(text(100).optional()) }),
      ...core.users.fields.wireShape('user', 'update'),
    }),
    answers: { 200: { description: 'The changed user', schema: z.object({ user: user.schema }) } },
    problems: core.usernames ? ['username_taken'] : [],
    ...(core.usernames && { sensitive: { asks: 'fresh-or-password', only: renaming(core.usernames) } }),
    async handle({ auth, body }) {
      const { username, spelling } = body as Pick<OwnUserInput, 'spelling'> & { username?: string };
      const changes = { username, spelling, fields: core.users.fields.fromWire(body) };
      const by = { sessionId: auth.session.id, from: 'user' } as const;
      const record = await updateUser(core, auth.user.id, changes, by);
      return { status: 200, body: { user: user.present(record.user) } };
    },
  });
};

export const deleteMe = (core: Core) =>
  route({
    method: 'delete',
    path: '/me',
    client: 'deleteMe',
    session: 'ends',
    formTwin: '/me/delete',
    summary: "Delete the current user's account, after a recent sign-in or with the password",
    access: 'session',
    openTo: 'any-task',
    sensitive: { asks: 'fresh-or-password' },
    answers: { 204: { description: 'The account was deleted, and the session cookie cleared' } },
    problems: deletionProblems(core),
    async handle({ auth }) {
      await deleteUser(core, auth.user.id, auth.session.id);
      return { status: 204, clearCookie: true };
    },
  });

export const exportMe = (core: Core) =>
  route({
    method: 'post',
    path: '/me/export',
    client: 'exportMe',
    summary: "Download the current user's data, once a day, after a recent sign-in or with the password",
    access: 'session',
    sensitive: { asks: 'fresh-or-password' },
    body: z.strictObject({}),
    answers: {
      200: {
        description: 'Everything that is stored about the user, as a file',
        schema: exportSchema(core),
        file: 'account-data.json',
      },
    },
    problems: ['rate_limited'],
    async handle({ auth }) {
      return { status: 200, body: await exportOwnData(core, auth.user.id, auth.session.id) };
    },
  });

export const changeEmail = (core: Core) =>
  route({
    method: 'post',
    path: '/email-changes',
    client: 'changeEmail',
    summary: 'Email a link to a new address, after a recent sign-in or with the password',
    access: 'session',
    sensitive: { asks: 'fresh-or-password' },
    body: z.strictObject({ new_email: shownAgain(text(320)) }),
    answers: { 202: { description: 'Accepted, whether or not another account has the address' } },
    problems: ['rate_limited'],
    async handle({ auth, body }) {
      const email = readEmail(body.new_email, '/new_email');
      await requestEmailChange(core, auth.user.id, auth.session.id, email);
      return { status: 202 };
    },
  });

export const cancelChange = (core: Core) =>
  route({
    method: 'delete',
    path: '/email-changes',
    client: 'cancelEmailChange',
    formTwin: '/email-changes/cancel',
    summary: 'Cancel the change to a new email that is not confirmed yet',
    access: 'session',
    answers: { 204: { description: 'No emailed link changes the email. Also if there was none' } },
    async handle({ auth }) {
      await cancelEmailChange(core, auth.user.id, auth.session.id);
      return { status: 204 };
    },
  });

export const confirmChange = (core: Core) => {
  const { user, session } = resources(core);
  return route({
    method: 'post',
    path: '/email-changes/confirm',
    client: 'confirmEmail',
    session: 'changes',
    summary: 'Confirm a new email with an emailed token and the session or password',
    access: 'public',
    body: z.strictObject({ token: text(200), ...passwordShape(core) }),
    answers: {
      200: {
        description:
          'The user and, if the request presents a session of the user, this session with a new token',
        schema: z.object({ user: user.schema, session: session.schema.optional() }),
      },
    },
    problems: [
      ...(['invalid_token', 'email_taken', 'unauthenticated', 'invalid_session'] as const),
      ...secondFactorProblems(core),
      ...(core.passwords ? (['invalid_credentials', 'rate_limited'] as const) : []),
    ],
    async handle({ body, req }) {
      const { token, password } = body as { token: string; password?: string };
      const own = await core.usableSession(req);
      const isEnough = own !== null && (await core.ownBrowser.confirms(own));
      const session = own?.session ?? null;
      const changed = await confirmEmailChange(core, token, { session, isEnough, password });
      if (changed.issued) return sessionReply(core, changed.issued);
      return { status: 200, body: { user: user.present(changed.user) } };
    },
  });
};

export const undoChange = (core: Core) =>
  route({
    method: 'post',
    path: '/undo-change',
    client: 'undoChange',
    session: 'changes',
    summary:
      'Undo a change of an account with the token of its notice and the proof that a sign-in required before the change',
    access: 'public',
    body: z.strictObject({ token: text(200), ...passwordShape(core), ...undoProofShape(core) }),
    answers: {
      200: {
        description: 'The change and all later ones were undone, and all sessions revoked',
        schema: z.object({ undone: z.string() }),
      },
    },
    problems: [
      'invalid_token',
      'last_sign_in_method',
      ...(['proof_required', 'invalid_credentials', 'rate_limited'] as const),
      ...undoProofProblems(core),
    ],
    async handle({ body, req }) {
      const { token, ...given } = body as { token: string } & Record<string, unknown>;
      const own = await sessionOf(core.carriers, req);
      const { userId, undone } = await undo(core, token, given);
      // If this browser had a session of the account, the undo has revoked it too.
      return { status: 200, body: { undone }, clearCookie: own?.user.id === userId };
    },
  });

export const lookUpUndo = (core: Core) =>
  route({
    method: 'post',
    path: '/undo-change/lookup',
    client: 'lookUpUndo',
    summary:
      'Get the change that the token of a notice undoes, and the proofs that are missing in this browser',
    access: 'public',
    forms: false,
    body: z.strictObject({ token: text(200) }),
    answers: {
      200: {
        description: 'The change. The token still works',
        schema: named(
          'UndoableChange',
          'The change that the token of a notice undoes',
          z.object({
            kind: z.string(),
            at: time,
            device: z.string().nullable(),
            missing: z
              .array(z.enum(UNDO_PROOFS))
              .describe('The proofs that are still missing in this browser'),
          }),
        ),
      },
    },
    problems: ['invalid_token', 'rate_limited'],
    async handle({ body: { token } }) {
      await core.limiter.countAddress('signIn');
      const found = await findUndo(core, token);
      const missing = missingUndoProofs(core, await examineUndo(core, found), {});
      const { kind, at, device } = found;
      return { status: 200, body: { kind, at: at.toISOString(), device, missing } };
    },
  });

const accountChange = named(
  'AccountChange',
  'A change of the account in the last 30 days',
  z.object({
    id,
    kind: z.string(),
    at: time,
    device: z.string().nullable(),
    ip: z.string().nullable(),
    undoable: z.boolean().describe('Whether the link of the notice about it still works'),
  }),
);

export const listChanges = (core: Core) =>
  route({
    method: 'get',
    path: '/account-changes',
    client: 'accountChanges',
    summary: "List the changes of the current user's account in the last 30 days, newest first",
    access: 'session',
    answers: {
      200: {
        description: 'The changes, and whether the link of the notice about each still works',
        schema: z.object({
          changes: z.array(accountChange),
        }),
      },
    },
    async handle({ auth }) {
      const changes = core.notices.isOn ? await core.history.list(auth.user.id) : [];
      const listed = changes.map(({ at, ...change }) => ({ ...change, at: at.toISOString() }));
      return { status: 200, body: { changes: listed } };
    },
  });

/** The field of a body for the password, if passwords are enabled. */
function passwordShape(core: Core): { password?: z.ZodOptional<z.ZodString> } {
  return core.passwords ? { password: text(1024).optional() } : {};
}

/** A change of the username requires a recent sign-in or the password, because users sign in with it. */
function renaming(usernames: UsernameRules) {
  return {
    field: 'username',
    isChange({ username }: User, given: unknown) {
      const canonical = usernames.fold(given);
      // The rules for usernames reject an invalid one afterwards.
      return given !== undefined && (canonical === null || canonical !== username);
    },
    otherwise: (spelling: unknown) => ({ spelling }),
  };
}
