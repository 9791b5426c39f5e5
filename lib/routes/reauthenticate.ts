import * as z from 'zod';
import { reauthenticate as confirm } from '../accounts/reauthentication.js';
import type { Reauthentication } from '../core/contribution.js';
import type { Core } from '../core/core.js';
import { route } from '../http/route.js';

/** The proofs that the plugins take. */
export function reauthentications({ contributions }: Core): readonly Reauthentication[] {
  return contributions.flatMap(({ reauthentications = [] }) => reauthentications);
}

export const reauthenticate = (core: Core) => {
  const ways = reauthentications(core);
  const isStrong = ways.some(({ aal = 2 }) => aal === 2);
  return route({
    method: 'post',
    path: '/reauthenticate',
    summary: 'Reauthenticate, for actions that require a recent sign-in',
    access: 'session',
    body: oneOf(ways),
    answers: {
      204: {
        description: isStrong
          ? 'The session counts as recently authenticated. After a second factor or a passkey, it has a new token'
          : 'The session counts as recently authenticated',
      },
    },
    problems: [
      ...new Set(ways.flatMap(({ problems }) => problems)),
      ...(core.secondFactors.plugin ? (['second_factor_required'] as const) : []),
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

/** A body with exactly one of the proofs. */
function oneOf(ways: readonly Reauthentication[]): z.ZodType<Readonly<Record<string, unknown>>> {
  const names = ways.map(({ field }) => field);
  const [only] = ways;
  if (only && ways.length === 1) return z.strictObject({ [only.field]: only.schema });
  const fields = Object.fromEntries(ways.map(({ field, schema }) => [field, schema.optional()]));
  return z
    .strictObject(fields)
    .refine((body) => names.filter((name) => body[name] !== undefined).length === 1, {
      error: `must have exactly one of ${names.join(', ')}`,
    });
}
