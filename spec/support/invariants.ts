import { isWellFormedToken } from '../../lib/crypto/token.js';
import { canonicalEmail } from '../../lib/index.js';
import type { ReceivedEvent } from './crash/ledger.js';
import { rows, type SpecDatabase } from './database.js';

export interface InvariantOptions {
  /** Strings that must not be anywhere in the tables: passwords, codes and other secrets of users. @default none */
  readonly secrets?: readonly string[];
  /** The `tablePrefix` of the config. @default '' */
  readonly tablePrefix?: string;
  /**
   * Whether resets by email are enabled. If so, an account with an email needs no other sign-in method.
   * @default true
   */
  readonly resets?: boolean;
  /**
   * The events that webhooks have received, without repeated deliveries. They must get every event.
   * @default not checked
   */
  readonly events?: readonly ReceivedEvent[];
}

type Row = Readonly<Record<string, unknown>>;
type Tables = ReadonlyMap<string, readonly Row[]>;

/** Tables that keep the history of users who might have been deleted. */
const HISTORY = new Set(['audit_events']);
/** Anything that might be a token, at any position. Encrypted text can look like a token, but its checksum is wrong. */
const TOKEN_LIKE = /(?=(lk[a-z]_)([A-Za-z0-9_-]{48}))/g;
/** The forms of password hashes: see docs/moving-in.md. */
const PASSWORD_HASH = /^(\$|pbkdf2_|scrypt|bcrypt|[\w-]+[:$])/;
const DIGEST_BYTES = 32;
const MAX_SHOWN = 80;

/**
 * Checks the invariants of the tables, which must hold at any time, after any failure.
 *
 * @returns the broken invariants, in words; empty if none is broken
 */
export async function brokenInvariants(
  database: SpecDatabase,
  { secrets = [], tablePrefix = '', resets = true, events }: InvariantOptions = {},
): Promise<string[]> {
  const tables = await readTables(database, tablePrefix);
  return [
    ...withoutTheirUser(tables),
    ...withoutAWayIn(tables, resets),
    ...identities(tables),
    ...plainSecrets(tables, secrets),
    ...digests(tables),
    ...halves(tables),
    ...(events ? told(tables, events) : []),
  ];
}

/** All rows of a user, as JSON, for the report of a violation. */
export async function rowsOf(database: SpecDatabase, userId: string, tablePrefix = ''): Promise<string[]> {
  const tables = await readTables(database, tablePrefix);
  return [...tables].flatMap(([name, all]) =>
    all
      .filter((row) => (name === 'users' ? row.id : row.user_id) === userId)
      .map((row) => {
        const shown = Object.entries(row).map(([column, value]) => [column, inShort(value)]);
        return `${name}: ${JSON.stringify(Object.fromEntries(shown))}`;
      }),
  );
}

function of(tables: Tables, name: string): readonly Row[] {
  return tables.get(name) ?? [];
}

/** Every row that names a user or a session refers to an existing one. */
function withoutTheirUser(tables: Tables): string[] {
  const parents = { user_id: 'users', session_id: 'sessions' };
  return [...tables].flatMap(([name, all]) =>
    Object.entries(parents).flatMap(([column, parent]) => {
      const ids = new Set(of(tables, parent).map(({ id }) => id));
      const isHistory = HISTORY.has(name) || (name === 'oauth_flows' && column === 'session_id');
      const orphans = isHistory ? [] : all.filter((row) => row[column] && !ids.has(row[column]));
      return orphans.map((row) => `${name}: a row without its ${parent.slice(0, -1)} ${row[column]}`);
    }),
  );
}

/** Every user can sign in, or get a link by email to do so. */
function withoutAWayIn(tables: Tables, resets: boolean): string[] {
  const others = new Set([...of(tables, 'accounts'), ...of(tables, 'passkeys')].map((row) => row.user_id));
  return of(tables, 'users')
    .filter((user) => !user.password_hash && !others.has(user.id) && !(resets && user.email))
    .map((user) => `users: no way in for ${user.id}`);
}

/** Each email, username and identity at a provider is in its canonical form, and exists only once. */
function identities(tables: Tables): string[] {
  const users = of(tables, 'users');
  const emails = users.flatMap(({ email }) => (email ? [String(email)] : []));
  const usernames = users.flatMap(({ username }) => (username ? [String(username).toLowerCase()] : []));
  const subjects = of(tables, 'accounts').map(({ issuer, subject }) => `${issuer} ${subject}`);
  const links = of(tables, 'accounts').map(({ user_id: id, provider }) => `${id} ${provider}`);
  return [
    ...emails
      .filter((email) => canonicalEmail(email) !== email)
      .map((email) => `users: ${email} is not canonical`),
    ...twice(emails.map((email) => canonicalEmail(email) ?? email)).map((one) => `users: ${one} twice`),
    ...twice(usernames).map((one) => `users: the username ${one} twice`),
    ...twice(subjects).map((one) => `accounts: ${one} twice`),
    ...twice(links).map((one) => `accounts: ${one} twice`),
  ];
}

/** No credential is stored in plain text. */
function plainSecrets(tables: Tables, secrets: readonly string[]): string[] {
  const found = (text: string) =>
    secrets.some((secret) => text.includes(secret)) ||
    [...text.matchAll(TOKEN_LIKE)].some(([, prefix = '', body = '']) =>
      isWellFormedToken(prefix, prefix + body),
    );
  return [...tables].flatMap(([name, all]) =>
    all.flatMap((row) =>
      Object.entries(row)
        .filter(([, value]) => found(isBytes(value) ? Buffer.from(value).toString('latin1') : String(value)))
        .map(([column]) => `${name}.${column}: a secret as it is`),
    ),
  );
}

function digests(tables: Tables): string[] {
  return [...tables].flatMap(([name, all]) =>
    all.flatMap((row) =>
      Object.entries(row)
        .filter(([column, value]) => column.endsWith('_hash') && column !== 'password_hash' && value !== null)
        .filter(([, value]) => !isBytes(value) || value.length !== DIGEST_BYTES)
        .map(([column]) => `${name}.${column}: no digest`),
    ),
  );
}

/** Rows that are written together exist together, and are consistent. */
function halves(tables: Tables): string[] {
  const users = new Map(of(tables, 'users').map((user) => [user.id, user]));
  const secrets = new Set(of(tables, 'totp_secrets').map((row) => row.user_id));
  const epoch = (row: Row) => Number(users.get(row.user_id)?.auth_epoch ?? 0);
  const withEpoch = ['sessions', 'unfinished_sign_ins', 'one_time_tokens'];
  const times = (row: Row) => [row.created_at, row.expires_at].map((at) => new Date(String(at)).getTime());
  return [
    ...of(tables, 'recovery_codes')
      .filter((row) => !row.used_at && !secrets.has(row.user_id))
      .map((row) => `recovery_codes: one without the second factor of ${row.user_id}`),
    ...[...secrets]
      .filter((id) => !of(tables, 'recovery_codes').some((row) => row.user_id === id))
      .map((id) => `totp_secrets: ${id} has got no recovery codes`),
    ...withEpoch.flatMap((name) =>
      of(tables, name)
        .filter((row) => row.auth_epoch !== null && Number(row.auth_epoch) > epoch(row))
        .map((row) => `${name}: an epoch that ${row.user_id} has not reached`),
    ),
    ...of(tables, 'sessions')
      .filter((row) => !((times(row)[0] ?? 0) < (times(row)[1] ?? 0)))
      .map((row) => `sessions: ${row.id} ends before it begins`),
    ...[...users.values()].flatMap((user) => [
      ...(user.email_verified_at && !user.email ? [`users: ${user.id} has verified no email`] : []),
      ...((user.email_proof === 'none') !== (user.email_verified_at === null) ||
      (user.email_proof === 'mailbox' && user.mailbox_proved_at === null)
        ? [`users: ${user.id} proved an email in part`]
        : []),
      ...(user.password_hash && !PASSWORD_HASH.test(String(user.password_hash))
        ? [`users: the password of ${user.id} is no hash`]
        : []),
    ]),
    ...of(tables, 'sessions')
      // A row of an earlier epoch is not accepted: its sign-in was in progress when the sessions were revoked.
      .filter((row) => Number(row.auth_epoch) === epoch(row))
      .filter((row) => users.get(row.user_id)?.suspended_at && !users.get(row.user_id)?.suspended_until)
      .map((row) => `sessions: ${row.user_id} is suspended and has one`),
  ];
}

/** Webhooks report exactly the changes that are in the tables, each of them once. */
function told(tables: Tables, events: readonly ReceivedEvent[]): string[] {
  const received = new Set(events.map(({ id }) => id));
  const subjects = (type: string, key: string) =>
    events.filter((event) => event.type === type).map(({ data }) => String(data[key]));
  const lives = (name: string, created: string, ended: string, key: string) => {
    const rows = new Set(of(tables, name).map(({ id }) => String(id)));
    const begun = subjects(created, key);
    const over = subjects(ended, key);
    return [
      ...twice(begun).map((id) => `${created}: ${id} twice`),
      ...twice(over).map((id) => `${ended}: ${id} twice`),
      ...over.filter((id) => rows.has(id)).map((id) => `${ended}: ${id} is in ${name}`),
    ];
  };
  const users = new Set(of(tables, 'users').map(({ id }) => String(id)));
  const deleted = new Set(subjects('user.deleted', 'user_id'));
  const begun = new Set(subjects('session.created', 'session_id'));
  const ofDeleted = (event: ReceivedEvent) => deleted.has(String(event.data.user_id));
  return [
    ...of(tables, 'outbox')
      .filter(
        ({ lane, state, id }) =>
          /^webhook /.test(String(lane)) && state === 'sent' && !received.has(String(id)),
      )
      .map(({ kind, id }) => `outbox: ${kind} ${id} was sent, and has not come`),
    ...lives('users', 'user.created', 'user.deleted', 'user_id'),
    ...lives('sessions', 'session.created', 'session.revoked', 'session_id'),
    ...lives('api_keys', 'api_key.created', 'api_key.revoked', 'api_key_id'),
    ...events
      .filter(({ data }) => data.user_id && !users.has(String(data.user_id)))
      .filter((event) => !ofDeleted(event))
      .map(({ type, data }) => `${type}: ${data.user_id} does not exist`),
    ...of(tables, 'sessions')
      .filter(({ id }) => !begun.has(String(id)))
      .map(({ id }) => `sessions: no event has told of ${id}`),
  ];
}

async function readTables(database: SpecDatabase, prefix: string): Promise<Tables> {
  const { sequelize } = database;
  const names = (await sequelize.getQueryInterface().showAllTables()) as unknown as (
    | string
    | { tableName: string }
  )[];
  const tables = new Map<string, readonly Row[]>();
  for (const one of names) {
    const name = typeof one === 'string' ? one : one.tableName;
    if (!name.startsWith(prefix)) continue;
    tables.set(name.slice(prefix.length), await rows(database, `SELECT * FROM ${quoted(sequelize, name)}`));
  }
  return tables;
}

function quoted(sequelize: SpecDatabase['sequelize'], name: string): string {
  return sequelize.getDialect() === 'mysql' ? `\`${name}\`` : `"${name}"`;
}

function twice(values: readonly string[]): string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))];
}

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}

/** Shortens encrypted values, which would fill pages. */
function inShort(value: unknown): unknown {
  const text = isBytes(value) ? Buffer.from(value).toString('hex') : value;
  return typeof text === 'string' && text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
