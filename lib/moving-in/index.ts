import { readOptions, schemaOf } from '../config/options.js';
import { definePlugin, type Plugin } from '../plugin.js';
import { admit, afterSignInOrOut, oldTokenCarrier } from './admission.js';
import { MovingInApi } from './api.js';
import { bridgesSchema, type SessionBridge, type TokenBridge } from './bridge.js';
import { newServices } from './services.js';

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
      const services = newServices(core, bridges);
      const { linked, takenOver, tokenBridges } = services;
      return {
        api: new MovingInApi(core),
        ...(bridges.length > 0 && { afterCarriers: (...found) => admit(services, ...found) }),
        ...(tokenBridges.length > 0 && { carriers: [oldTokenCarrier(services)] }),
        afterSignInOrOut: (...signedIn) => afterSignInOrOut(services, ...signedIn),
        async onSessionsEnd(ended, transaction) {
          if (ended.how === 'all-revoked') linked.endAll(ended.userId, transaction);
          else if (ended.how === 'expired') await linked.forgetBeside(ended.sessionIds);
          else if (ended.how !== 'replaced') await linked.endOf(ended.sessionIds, transaction);
        },
        expired: [takenOver.expired],
        sealed: [takenOver.sealed],
        settle: () => linked.settle(),
      };
    },
  });
}
