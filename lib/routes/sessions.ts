import * as z from 'zod';
import { reauthenticate as confirm } from '../accounts/reauthentication.js';
import type { Core } from '../core/core.js';
import { AuthError, messageOf } from '../errors.js';
import { carriesPending } from '../http/admit.js';
import { resources, signInMethodsOf } from '../http/present.js';
import { named, route } from '../http/route.js';
import { say } from '../phrases.js';
import type { Reauthentication } from '../sessions/second-factor.js';
import { isFresh } from '../sessions/signed-in.js';
import { shownAgain } from '../shown-again.js';

export const signout = (core: Core) =>
  route({
    method: 'post',
    path: '/signout',
    client: 'signOut',
    session: 'ends',
    summary: 'Sign out',
    access: 'session-or-none',
    openTo: 'any-task',
    openToActing: true,
    forms: true,
    answers: {
      204: { description: 'The current session has ended, if there was one, and the cookies were cleared' },
    },
    async handle({ auth, req }) {
      if (auth) await core.sessions.revoke(auth.user.id, auth.session.id);
      else await core.endPresented(req);
      await core.pendings.abandon();
      return {
        status: 204,
        clearCookie: true,
        clears: carriesPending(core, req) ? [core.settings.pendingCookie] : [],
      };
    },
  });

export const listSessions = (core: Core) => {
  const { listedSession } = resources(core);
  return route({
    method: 'get',
    path: '/sessions',
    client: 'sessions',
    summary: "List the current user's active sessions, newest first",
    access: 'session',
    openTo: 'any-task',
    answers: {
      200: { description: 'The sessions', schema: z.object({ sessions: z.array(listedSession.schema) }) },
    },
    async handle({ auth }) {
      const sessions = await core.sessions.list(auth.user.id);
      const listed = sessions.map((one) =>
        listedSession.present(core.tasks.of(auth.user, one), auth.session.id),
      );
      return { status: 200, body: { sessions: listed } };
    },
  });
};

export const endSession = (core: Core) =>
  route({
    method: 'delete',
    path: '/sessions/:id',
    client: 'revokeSession',
    session: 'changes',
    summary: "Revoke one of the current user's sessions",
    access: 'session',
    openTo: 'any-task',
    answers: { 204: { description: 'The session was revoked' } },
    problems: ['session_not_found'],
    async handle({ auth, params: { id = '' } }) {
      if (!(await core.sessions.revoke(auth.user.id, id))) throw new AuthError('session_not_found');
      return { status: 204, clearCookie: id === auth.session.id };
    },
  });

export const revokeSessions = (core: Core) =>
  route({
    method: 'post',
    path: '/revoke-sessions',
    client: 'revokeSessions',
    session: 'changes',
    summary: "Revoke all of the current user's sessions, or all but the current one",
    access: 'session',
    openTo: 'any-task',
    body: z.strictObject({ others: shownAgain(z.boolean().optional().describe('Keep the current session')) }),
    answers: {
      200: { description: 'The number of revoked sessions', schema: z.object({ revoked: z.int() }) },
    },
    problems: ['rate_limited'],
    async handle({ auth: { user, session }, body: { others = false } }) {
      // Otherwise, an attacker with an old session could sign the owner out again and again, and stay signed in.
      if (others && !isFresh(core.database, session))
        await core.limiter.countAccount('revokeOthers', user.id);
      const revoked = await core.sessions.revokeAll(user.id, others ? session.id : undefined);
      return { status: 200, body: { revoked }, clearCookie: !others };
    },
  });

/** Returns the proofs that the plugins accept for a reauthentication. */
export function reauthentications({ contributions }: Core): readonly Reauthentication[] {
  return contributions.flatMap(({ reauthentications = [] }) => reauthentications);
}

export const reauthenticate = (core: Core) => {
  const ways = reauthentications(core);
  const isStrong = ways.some(({ aal = 2 }) => aal === 2);
  return route({
    method: 'post',
    path: '/reauthenticate',
    client: 'reauthenticate',
    session: 'changes',
    summary: 'Reauthenticate, for actions that require a recent sign-in',
    access: 'session',
    openTo: 'any-task',
    body: named('Reauthentication', "One proof of the user's identity", oneOf(ways)),
    answers: {
      204: {
        description: isStrong
          ? 'The session counts as recently authenticated. After a second factor or a passkey, it has a new token'
          : 'The session counts as recently authenticated',
      },
    },
    problems: [
      ...new Set(ways.flatMap(({ problems }) => problems)),
      ...(core.secondFactors.arePossible ? (['second_factor_required'] as const) : []),
    ],
    async handle({ auth: { user, session }, body }) {
      const way = ways.find(({ field }) => body[field] !== undefined);
      if (!way) throw new TypeError('the body has no proof');
      const { field, aal = 2 } = way;
      const who = { userId: user.id, sessionId: session.id, aal };
      const issued = await confirm(core, who, (record) => way.verify(record, body[field], session));
      return { status: 204, ...(issued && { issue: issued }) };
    },
  });
};

/** Creates the schema of a body with exactly one of the proofs. */
function oneOf(ways: readonly Reauthentication[]): z.ZodType<Readonly<Record<string, unknown>>> {
  const names = ways.map(({ field }) => field);
  const [only] = ways;
  if (only && ways.length === 1) return z.strictObject({ [only.field]: only.schema });
  const fields = Object.fromEntries(ways.map(({ field, schema }) => [field, schema.optional()]));
  return z
    .strictObject(fields)
    .refine((body) => names.filter((name) => body[name] !== undefined).length === 1, {
      error: messageOf(say('not-exactly-one', { values: names })),
    });
}

export const signInMethods = (core: Core) => {
  const methods = signInMethodsOf(core);
  return route({
    method: 'get',
    path: '/sign-in-methods',
    client: 'signInMethods',
    summary: "List the current user's sign-in methods",
    access: 'session',
    openTo: 'any-task',
    answers: {
      200: {
        description: 'The sign-in methods that are enabled, and which of them the user has',
        schema: methods.schema,
      },
    },
    async handle({ auth }) {
      const record = await core.users.findRecord({ id: auth.user.id });
      // The account was deleted after the request was authenticated.
      if (!record) throw new AuthError('invalid_session');
      return { status: 200, body: await methods.of(record) };
    },
  });
};
