import { uuidOf } from '../../crypto/uuid.js';
import type { ImportRow } from '../../users/imported.js';
import type { SourceRow } from './previous-tables.js';

/** A user as an importer reads them, with the values for all plugins, whether or not the app uses these plugins. */
export interface SourceUser extends ImportRow {
  readonly accounts?: readonly SourceLink[];
  readonly totpSecret?: string | null;
  readonly recoveryCodes?: readonly string[];
  readonly passkeys?: readonly SourcePasskey[];
  readonly suspended?: { readonly reason: string | null; readonly until: Date | null } | null;
}

/** A user's passkey. The id and the key are in base64url. */
export interface SourcePasskey {
  readonly credentialId: string;
  readonly publicKey: string;
  readonly counter: number;
  readonly deviceType: 'singleDevice' | 'multiDevice';
  readonly backedUp: boolean;
  readonly name: string | null;
  readonly transports: readonly string[];
  readonly createdAt: Date | null;
}

/** The rows of an importer, for `auth.movingIn.importUsers` and `auth.movingIn.importOrganizations`. */
export interface ImportSource<Row> extends AsyncGenerator<Row, void, undefined> {
  /** The name of the system, which the import remembers with each row: see `source` of `auth.movingIn.importUsers`. */
  readonly source: string;
}

/** Gives the rows of an importer the name of their system. */
export function named<Row>(source: string, rows: AsyncGenerator<Row, void, undefined>): ImportSource<Row> {
  return Object.assign(rows, { source });
}

/** A user's account at a provider. */
export interface SourceLink {
  readonly provider: string;
  readonly subject: string;
}

/** Reads a string from a column. An empty string counts as null, because the columns of some tables are never NULL. */
export function textOf(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null;
  return Buffer.isBuffer(value) ? value.toString('utf8') : String(value);
}

/** The values that identify the user in a row. {@link importedId} derives the id of the account from them. */
export interface SourceIdentity {
  readonly ref: string;
  /** The user's id if it is a UUID: the account keeps it, so that references to it remain correct. */
  readonly id: string | null;
  readonly email: string | null;
  readonly emailVerified: boolean;
  readonly username: string | null;
  readonly createdAt: Date | null;
}

/** The columns of a {@link SourceIdentity}. */
export type IdentityColumns = Readonly<Record<'id' | 'email' | 'emailVerified', string>> & {
  readonly [K in 'username' | 'createdAt']?: string | undefined;
};

/**
 * Reads the values that identify the user in a row. Importers and bridges both call this function, because a bridge
 * looks for the account whose id the import derived from these values.
 */
export function identityIn(row: SourceRow, columns: IdentityColumns): SourceIdentity {
  const { id, email, emailVerified, username, createdAt } = columns;
  return {
    ref: String(row[id]),
    id: uuidOf(row[id]),
    email: textOf(row[email]),
    emailVerified: flagOf(row[emailVerified]),
    username: username === undefined ? null : textOf(row[username]),
    createdAt: createdAt === undefined ? null : timeOf(row[createdAt]),
  };
}

/**
 * Whether a column is true. It can contain a flag in the form of any database, or the time since which it is true.
 *
 * @throws TypeError for any other text, such as `pending`, because it could be taken for a proof
 */
export function flagOf(value: unknown): boolean {
  // In MySQL, the time 0000-00-00 means that there is no time. The driver returns it as an invalid Date.
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  if (Buffer.isBuffer(value)) return value.some((byte) => byte !== 0);
  const text = String(value ?? '').trim();
  if (/^(0|f|false|n|no|off|null|none|0000-00-00.*|)$/i.test(text)) return false;
  if (/^(\d+(\.\d+)?|t|true|y|yes|on|\d{4}-\d\d-\d\d.*)$/i.test(text)) return true;
  throw new TypeError(
    `latchkey: ${JSON.stringify(text.slice(0, 40))} is neither a flag nor a time: map the column with a function`,
  );
}

/**
 * Reads the time in a column. A string without a time zone, as SQLite and some drivers return it, is read as UTC. A
 * number is read as milliseconds since 1970, or as seconds if it is too small for milliseconds.
 */
export function timeOf(value: unknown): Date | null {
  if (value === null || value === undefined || value === '') return null;
  if (value instanceof Date) return value;
  if (typeof value === 'number' || /^\d+$/.test(String(value))) {
    const number = Number(value);
    return new Date(number < 100_000_000_000 ? number * 1000 : number);
  }
  const text = String(value).trim().replace(' ', 'T').replace(' ', '');
  // JavaScript reads a date without a time as UTC too. The end of 2026-01-31 would look like a time zone below.
  if (!/t/i.test(text)) return new Date(text);
  return new Date(/(Z|[+-]\d\d(:?\d\d)?)$/i.test(text) ? text.replace(/([+-]\d\d)$/, '$1:00') : `${text}Z`);
}

/** Reads when a session expires. Null if the column has no time, because an invalid Date is never in the past. */
export function endOf(value: unknown): Date | null {
  const time = timeOf(value);
  return time === null || Number.isNaN(time.getTime()) ? null : time;
}

/** The ids of the app's providers, by their ids in the previous system. Null excludes a provider's accounts. */
export type ProviderNames = Readonly<Record<string, string | null>>;

/** Returns the links of a user with the ids of the app's providers. */
export function linksOf(
  links: readonly { readonly provider: unknown; readonly subject: unknown }[],
  names: ProviderNames,
): SourceLink[] {
  return links.flatMap(({ provider, subject }) => {
    const given = String(provider);
    const name = Object.hasOwn(names, given) ? names[given] : given;
    return name === null || name === undefined ? [] : [{ provider: name, subject: String(subject) }];
  });
}
