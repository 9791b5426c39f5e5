// The app under load. The spec makes it with the library's source, bench/load/server.mjs with the built package.

/** How the administrators of a load are called; each lane of the mix has one. */
export const adminEmail = (lane) => `admin-${lane}@example.com`;

/** Limits that count everything and refuse nothing that the mix does from its one address. */
const rule = { limit: 10_000_000, window: 60 };

/**
 * The config of the app.
 *
 * @param {any} latchkey the package
 * @param {number} lanes of the mix
 */
export function loadConfig({ credentialPassword, twoFactor, apiKeys, admin }, lanes) {
  return {
    secret: 'a secret for the load, of 32 bytes and more',
    rateLimit: {
      ...{ signIn: rule, signUp: rule },
      account: { failures: 1000, firstPause: 1, maxPause: 1 },
    },
    plugins: [
      credentialPassword({ bcryptCost: 4 }),
      twoFactor({ issuer: 'Load' }),
      apiKeys(),
      admin({ adminEmails: Array.from({ length: lanes }, (_, lane) => adminEmail(lane)) }),
    ],
  };
}

/**
 * The routes of the app: latchkey's at /auth, a page that says who asks, and one for a second factor.
 *
 * @param {any} latchkey the package
 * @param {any} app of Express
 * @param {any} auth
 */
export function mountLoad({ authRouter, requireSession }, app, auth) {
  // The config cannot change these limits.
  const { settings } = auth[Symbol.for('latchkey.internals')].core;
  Object.assign(settings.rateLimit.rules, { passwordCheck: null, passwordChange: null });
  app.use('/auth', authRouter(auth));
  const page = (req, res) => {
    const { user, session, via } = req.auth;
    res.json({
      user: user.id,
      email: user.email,
      session: session?.id ?? null,
      aal: session?.aal ?? null,
      via,
    });
  };
  app.get('/page', requireSession(auth), page);
  app.get('/strong', requireSession(auth, { aal: 2 }), page);
}

/** @param {any} auth @param {number} lanes @param {string} password of all administrators */
export async function createAdmins(auth, lanes, password) {
  for (let lane = 0; lane < lanes; lane++)
    await auth.users.create({ email: adminEmail(lane), password, emailVerified: true });
}
