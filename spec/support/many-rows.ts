import { randomBytes } from 'node:crypto';
import { dialect, rows, type SpecDatabase } from './database.js';

const USERS = 4000;
const DAY = 86_400_000;

/** Ids of a table, which are older than ids that are created now. */
const idOf = (table: number, index: number) =>
  `01800000-0000-7000-8${String(table).padStart(3, '0')}-${String(index).padStart(12, '0')}`;
// The times are written as the database gets them, because Sequelize would take seconds to convert all of them.
const OFFSET = dialect === 'mysql' ? '' : ' +00:00';
const later = (days: number) =>
  new Date(Date.now() + days * DAY).toISOString().replace('T', ' ').replace('Z', OFFSET);

/** Fills the tables like the tables of an app with many users. Only a few rows have expired. */
export async function fillTables(database: SpecDatabase): Promise<void> {
  const each = (make: (index: number) => object, count = USERS) =>
    Array.from({ length: count }, (_, i) => make(i));
  const digest = () => randomBytes(32);
  const user = (index: number) => idOf(0, index % USERS);
  // One of a hundred rows has expired.
  const end = (index: number) => later(index % 100 === 0 ? -400 : 30);
  const past = (index: number) => later(index % 100 === 0 ? -400 : -(index % 50) / 10);
  const tables: Record<string, object[]> = {
    users: each((index) => ({
      id: user(index),
      email: `${digest().toString('hex').slice(0, 12)}@example.com`,
      username: index % 2 === 0 ? `user${index}` : null,
      password_hash: '$bcrypt-hmac-sha384$2b$04$hash',
      auth_epoch: 0,
      created_at: past(index),
      updated_at: past(index),
      deleted_at: index % 100 === 0 ? later(-1) : null,
    })),
    sessions: each(
      (index) => ({
        id: idOf(1, index),
        user_id: user(index),
        token_hash: digest(),
        replaced_token_hash: index % 10 === 0 ? digest() : null,
        auth_epoch: 0,
        remembered: true,
        created_at: past(index),
        authenticated_at: past(index),
        last_active_at: past(index),
        expires_at: end(index),
      }),
      2 * USERS,
    ),
    known_devices: each(
      (index) => ({
        id: idOf(2, index),
        user_id: user(index),
        token_hash: digest(),
        created_at: past(index),
        last_used_at: past(index),
        forgotten_at: index % 50 === 0 ? past(index) : null,
        undo_token_hash: index % 5 === 0 ? digest() : null,
      }),
      2 * USERS,
    ),
    known_device_tokens: each((index) => ({
      id: idOf(14, index),
      device_id: idOf(2, index),
      token_hash: digest(),
      expires_at: index % 2 === 0 ? end(index) : null,
    })),
    rate_limits: each((index) => ({ key_hash: digest(), hits: 1, expires_at: end(index) })),
    one_time_tokens: each((index) => ({
      token_hash: digest(),
      user_id: user(index),
      purpose: 'reset-password',
      email: `${index}@example.com`,
      expires_at: end(index),
    })),
    account_changes: each((index) => ({
      id: idOf(3, index),
      user_id: user(index),
      kind: 'password-changed',
      token_hash: digest(),
      email: index % 3 === 0 ? `was${index}@example.com` : null,
      created_at: past(index),
      expires_at: end(index),
    })),
    // Nearly all entries have been sent.
    outbox: each((index) => ({
      id: idOf(13, index),
      lane: 'mail',
      kind: 'new-device',
      state: index % 100 === 0 ? 'waiting' : 'sent',
      content: index % 100 === 0 ? 'sealed' : null,
      attempts: 1,
      created_at: past(index),
      due_at: index % 100 === 0 ? later(1) : null,
      give_up_at: later(3),
      expires_at: end(index),
    })),
    import_keys: each((index) => ({ id: idOf(8, index), sealed_key: 'sealed' })),
    imported_users: each((index) => ({
      id: idOf(9, index),
      source: 'better-auth',
      ref_hash: digest(),
      ref: String(index),
      is_number: false,
      user_id: user(index),
      changed: '',
      stamps: '{}',
      created_at: past(index),
    })),
    recent_browsers: each((index) => ({
      id: idOf(8, index),
      user_id: index % 10 === 0 ? null : user(index),
      token_hash: digest(),
      made_there: index % 2 === 0,
      expires_at: end(index),
    })),
    emailed_sign_ins: each((index) => ({
      link_hash: digest(),
      browser_hash: digest(),
      email: `${index}@example.com`,
      remembered: true,
      mails: 1,
      tries: 0,
      resends: 0,
      expires_at: end(index),
    })),
    code_requests: each((index) => ({
      hash: digest(),
      purpose: index % 2 === 0 ? 'reset' : 'verify',
      browser_hash: digest(),
      email: `${index}@example.com`,
      generation: 0,
      mails: 1,
      tries: 0,
      resends: 0,
      expires_at: end(index),
    })),
    carried_sessions: each((index) => ({
      old_hash: digest(),
      token_hash: digest(),
      sealed_token: index % 50 === 0 ? 'sealed' : null,
      created_at: past(index),
      expires_at: end(index),
    })),
    api_keys: each((index) => ({
      id: idOf(4, index),
      user_id: user(index),
      name: 'program',
      start: 'lkk_',
      key_hash: digest(),
      scopes: '',
      created_at: past(index),
    })),
    audit_events: each(
      (index) => ({
        id: idOf(5, index),
        kind: ['sign_in.succeeded', 'sign_in.failed', 'session.revoked'][index % 3],
        user_id: user(index),
        details: '{}',
        created_at: past(index),
      }),
      2 * USERS,
    ),
    totp_secrets: each((index) => ({
      user_id: user(index),
      secret: 'sealed',
      last_step: 0,
      wrong_codes: 0,
      confirmed_at: past(index),
    })),
    totp_enrolments: each((index) => ({
      session_id: idOf(1, index),
      user_id: user(index),
      secret: 'sealed',
      expires_at: end(index),
    })),
    recovery_codes: each(
      (index) => ({
        code_hash: digest(),
        user_id: user(index),
        used_at: index % 100 === 0 ? later(-100) : null,
      }),
      2 * USERS,
    ),
    accounts: each((index) => ({
      id: idOf(6, index),
      user_id: user(index),
      provider: 'google',
      issuer: 'https://accounts.example.com',
      subject: `${index}`,
      scopes: 'openid email',
      relink_required: false,
      refreshed_at: past(index),
      created_at: past(index),
      updated_at: past(index),
    })),
    oauth_flows: each((index) => ({
      state_hash: digest(),
      browser_hash: digest(),
      provider: 'google',
      session_id: index % 2 === 0 ? idOf(1, index) : null,
      callback_url: '/',
      redirect_uri: 'https://app.example.com/auth/oauth/google/callback',
      sealed: 'sealed',
      expires_at: end(index),
    })),
    passkeys: each((index) => ({
      id: idOf(7, index),
      user_id: user(index),
      name: 'phone',
      created_at: past(index),
      device_type: 'multiDevice',
      backed_up: true,
      transports: 'internal',
      credential_id: `${index}`,
      credential_hash: digest(),
      public_key: 'key',
      user_handle: `${index}`,
      counter: 0,
    })),
    passkey_challenges: each((index) => ({
      challenge_hash: digest(),
      purpose: 'register',
      browser_hash: digest(),
      user_id: user(index),
      expires_at: end(index),
    })),
    removed_passkeys: each((index) => ({
      id: idOf(15, index),
      user_id: user(index),
      credential_hash: digest(),
      expires_at: end(index),
    })),
    unfinished_sign_ins: each((index) => ({
      token_hash: digest(),
      user_id: user(index),
      auth_epoch: 0,
      remembered: true,
      amr: 'pwd',
      step: 'second_factor',
      expires_at: end(index),
    })),
  };
  await insertAll(database, tables);
}

/** Fills the tables of organizations: each user is in three of them. */
export async function fillOrganizations(database: SpecDatabase): Promise<void> {
  const all = Array.from({ length: USERS }, (_, index) => index);
  const now = later(0);
  await insertAll(database, {
    organizations: all.map((index) => ({
      id: idOf(20, index),
      name: 'Acme',
      slug: `acme-${index}`,
      created_at: now,
      updated_at: now,
    })),
    organization_members: all.flatMap((index) =>
      [0, 1, 2].map((nth) => ({
        id: idOf(21, 3 * index + nth),
        user_id: idOf(0, index),
        organization_id: idOf(20, (index + nth) % USERS),
        role: 'owner',
        created_at: now,
      })),
    ),
    organization_invitations: all.map((index) => ({
      id: idOf(22, index),
      organization_id: idOf(20, index),
      email: `guest-${index}@example.com`,
      role: 'member',
      token_hash: randomBytes(32),
      invited_by: idOf(0, index),
      created_at: now,
      expires_at: index % 100 === 0 ? later(-1) : later(index + 1),
    })),
  });
}

async function insertAll(
  database: SpecDatabase,
  tables: Readonly<Record<string, readonly object[]>>,
): Promise<void> {
  const queries = database.sequelize.getQueryInterface();
  for (const [table, all] of Object.entries(tables)) {
    for (let from = 0; from < all.length; from += 1000)
      await queries.bulkInsert(table, all.slice(from, from + 1000), { logging: false });
  }
  // VACUUM allows index-only scans on PostgreSQL.
  if (dialect === 'postgres') await rows(database, 'VACUUM');
}
