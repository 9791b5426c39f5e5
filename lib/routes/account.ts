import * as z from 'zod';
import { updateUser } from '../accounts/change.js';
import { deleteUser } from '../accounts/deletion.js';
import type { Core } from '../core/core.js';
import { hasUsernames } from '../core/usernames.js';
import { resources, secondFactorProblems } from '../http/present.js';
import { route } from '../http/route.js';
import { text } from '../http/schemas.js';
import { isSession } from '../sessions/request.js';
import { passwordProblems, passwordShape, requireFreshOrPassword } from './fresh-or-password.js';

export const me = (core: Core) => {
  const { user, session } = resources(core);
  const others = core.carriers.filter(({ carriesSession }) => !carriesSession);
  // Optional, since the fields are set only if the request carries this kind of credential.
  const descriptions = others.map(({ description }) => z.object(description?.schema ?? {}).partial().shape);
  return route({
    method: 'get',
    path: '/me',
    summary: 'Get the current user',
    access: 'authenticated',
    answers: {
      200: {
        description:
          others.length > 0
            ? 'The user, and the session or API key of the request'
            : 'The user and the current session',
        schema: z.object({
          user: user.schema,
          session: others.length > 0 ? session.schema.nullable() : session.schema,
          ...Object.assign({}, ...descriptions),
        }),
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
  return hasUsernames(core) || Object.keys(core.fields.wireShape('user', 'update')).length > 0;
}

export const updateMe = (core: Core) => {
  const { user } = resources(core);
  return route({
    method: 'patch',
    path: '/me',
    formTwin: '/me/update',
    summary: 'Change my fields and username',
    access: 'session',
    body: z.strictObject({
      ...(hasUsernames(core) && { username: text(100).optional() }),
      ...core.fields.wireShape('user', 'update'),
    }),
    answers: { 200: { description: 'The changed user', schema: z.object({ user: user.schema }) } },
    problems: hasUsernames(core) ? ['username_taken', ...secondFactorProblems(core)] : [],
    async handle({ auth, body }) {
      const { username } = body as { username?: string };
      const changes = { username, fields: core.fields.fromWire(body) };
      const record = await updateUser(core, auth.user.id, auth.session.id, changes, 'user');
      return { status: 200, body: { user: user.present(record.user) } };
    },
  });
};

export const deleteMe = (core: Core) =>
  route({
    method: 'delete',
    path: '/me',
    formTwin: '/me/delete',
    summary: 'Delete my account, after a recent sign-in or with my password',
    access: 'session',
    changesWaysIn: true,
    body: z.strictObject(passwordShape(core)),
    answers: { 204: { description: 'The account was deleted, and the session cookie cleared' } },
    problems: ['account_in_use', ...passwordProblems(core)],
    async handle({ auth, body }) {
      await requireFreshOrPassword(core, auth, body);
      await deleteUser(core, auth.user.id, auth.session.id);
      return { status: 204, clearCookie: true };
    },
  });
