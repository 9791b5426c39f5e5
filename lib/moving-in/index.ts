import type { ServerResponse } from 'node:http';
import { readOptions, schemaOf } from '../config/options.js';
import type { PlainRequest } from '../context/call.js';
import type { Admission } from '../core/contribution.js';
import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import { isOfDeadCookie } from '../http/admit.js';
import { definePlugin, type Plugin } from '../plugin.js';
import { MovingInApi } from './api.js';
import { bridgesSchema, type SessionBridge, type TokenBridge } from './bridge.js';
import { offerToken, oldTokenCarrier, retireOld } from './old-tokens.js';
import { besideOldSessions, carryOver, retireOldSessions } from './take-over.js';
import { newWing, type Wing } from './wing.js';

/** Options of {@link movingIn}. */
export interface MovingInOptions {
  /**
   * Previous systems whose active sessions are taken over, so that users do not have to sign in again when an app moves.
   * @default []
   */
  bridges?: readonly (SessionBridge | TokenBridge)[];
}

/** @internal */
export const schema = () => schemaOf<MovingInOptions>()({ bridges: bridgesSchema.default([]) });

/**
 * Moves an app to latchkey: imports its users, and takes over their active sessions.
 *
 * @throws TypeError on invalid options
 *
 * @example
 * const bridge = betterAuthSessions({ sequelize, secret: process.env.BETTER_AUTH_SECRET });
 * const auth = createAuth({ …, plugins: [credentialPassword(), movingIn({ bridges: [bridge] })] });
 * await auth.movingIn.importUsers(fromBetterAuth(sequelize, { secret: process.env.BETTER_AUTH_SECRET }));
 */
export function movingIn(options: MovingInOptions = {}): Plugin<'movingIn', MovingInApi> {
  const { bridges } = readOptions('movingIn', schema, options);
  return definePlugin({
    name: 'movingIn',
    setup(core) {
      const wing = newWing(core, bridges);
      const { kept, rows, takenOver, tokenBridges } = wing;
      return {
        api: new MovingInApi(core),
        ...(bridges.length > 0 && { afterCarriers: (...found) => admit(wing, ...found) }),
        ...(tokenBridges.length > 0 && { carriers: [oldTokenCarrier(wing)] }),
        async afterSignInOrOut(session, req, res) {
          if (!session) return retireOldSessions(wing, req, res, null);
          await retireOld(wing, req, res, session);
          return false;
        },
        async onSessionsEnd(ended, transaction) {
          if (ended.how === 'all-revoked') kept.endAll(ended.userId, transaction);
          else if (ended.how === 'expired') await kept.forgetBeside(ended.sessionIds);
          else if (ended.how === 'revoked')
            for (const id of ended.sessionIds) await kept.endOf(id, transaction);
        },
        async onAccountChange(userId, changed, transaction) {
          const keys = rowKeysOf(core, changed);
          if (keys.length > 0) await rows.note(userId, keys, transaction);
        },
        expired: [takenOver.expired],
        sealed: [takenOver.sealed],
        settle: () => kept.settle(),
      };
    },
  });
}

/** Takes sessions of previous systems into account: see `Contribution.afterCarriers`. */
async function admit(
  wing: Wing,
  found: Admission,
  req: PlainRequest,
  res: ServerResponse | undefined,
): Promise<Admission> {
  if (found === null) return res ? carryOver(wing, req, res) : null;
  if (found instanceof AuthError) {
    // latchkey's session might have expired while the user was active in a previous system that is still running.
    const isDead = res && isOfDeadCookie(wing.core, req, found);
    return (isDead && (await carryOver(wing, req, res, { onlyKept: true }))) || found;
  }
  if (found.via === 'bearer' && res) offerToken(wing, found, res);
  return found.via === 'cookie' ? besideOldSessions(wing, req, res, found) : found;
}

/** The attributes of users that rows have too, and their keys in rows. */
const OWN_KEYS: Readonly<Record<string, string>> = {
  email: 'email',
  username: 'username',
  passwordHash: 'passwordHash',
  deletedAt: 'id',
};

/** Returns the keys of rows that contain what has changed. */
function rowKeysOf({ contributions }: Core, changed: readonly string[]): readonly string[] {
  const ofParts: readonly string[] = contributions
    .flatMap(({ rowParts = [] }) => rowParts)
    .flatMap(({ keys }) => keys);
  return changed.flatMap((name) => OWN_KEYS[name] ?? (ofParts.includes(name) ? name : []));
}
