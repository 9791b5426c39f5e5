// latchkey's tables with as many users and sessions as asked for. The older half of the sessions has expired.
import { admin, createAuth, credentialPassword } from 'latchkey';
import { movingIn } from 'latchkey/moving-in';
import { connectTo, insertRows } from '../support/insert.mjs';
import {
  digestOf,
  emailOf,
  IP,
  latchkeyToken,
  SECRET,
  times,
  USER_AGENT,
  userOf,
  uuidOf,
} from '../support/people.mjs';

/** The password of everybody. */
export const PASSWORD = 'the password of everybody in the bench';

/** Hashed at the lowest cost: the time of a sign-in is then that of the database. */
export function openAuth(url) {
  return createAuth({
    database: url,
    secret: SECRET,
    rateLimit: false,
    plugins: [
      credentialPassword({ bcryptCost: 4 }),
      admin({ adminEmails: ['admin@example.test'] }),
      movingIn(),
    ],
  });
}

/**
 * Fills an empty database.
 *
 * @param {string} url
 * @param {import('../support/people.mjs').Size} size
 */
export async function seedGrowth(url, size) {
  const auth = openAuth(url);
  await auth.migrate();
  await auth.users.create({ email: 'admin@example.test', password: PASSWORD });
  const admin = await auth.models.User.unscoped().findOne();
  await auth.close();
  const { created, active, monthAhead } = times;
  const longAgo = new Date(created.getTime() - 60 * 86_400_000);
  const connection = await connectTo(url);
  if (connection.dialect === 'mysql') await connection.run('SET unique_checks = 0, foreign_key_checks = 0');
  await insertRows(
    connection,
    'users',
    ['id', 'email', 'email_verified_at', 'password_hash', 'auth_epoch', 'created_at', 'updated_at'],
    size.users,
    (user) => [uuidOf('user', user), emailOf(user), created, admin.get('passwordHash'), 0, created, created],
  );
  await insertRows(
    connection,
    'sessions',
    [
      ...['id', 'user_id', 'token_hash', 'auth_epoch', 'remembered', 'created_at', 'authenticated_at'],
      ...['last_active_at', 'expires_at', 'ip_address', 'user_agent', 'aal', 'amr'],
    ],
    size.sessions,
    (session) => {
      const isLive = session > size.sessions / 2;
      return [
        ...[
          uuidOf('session', session),
          uuidOf('user', userOf(session, size)),
          digestOf(latchkeyToken('lks_', session)),
        ],
        ...[0, true, created, created, isLive ? active : longAgo, isLive ? monthAhead : longAgo],
        ...[IP, USER_AGENT, 1, 'pwd'],
      ];
    },
  );
  for (const table of ['users', 'sessions'])
    await connection.run(
      { mysql: `ANALYZE TABLE ${table}`, postgres: `VACUUM ANALYZE ${table}`, sqlite: `ANALYZE ${table}` }[
        connection.dialect
      ],
    );
  await connection.close();
}
