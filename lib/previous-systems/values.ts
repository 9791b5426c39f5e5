import type { ImportRow } from '../users/imported.js';

/** A user as an importer reads them, with what plugins take of a row, whichever the app has. */
export interface SourceUser extends ImportRow {
  readonly accounts?: readonly SourceLink[];
  readonly totpSecret?: string | null;
  readonly recoveryCodes?: readonly string[];
  readonly suspended?: { readonly reason: string | null; readonly until: Date | null } | null;
}

/** An account of theirs at a provider. */
export interface SourceLink {
  readonly provider: string;
  readonly subject: string;
}

/** Text of a column; empty text counts as none, as in tables whose columns are never NULL. */
export function textOf(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null;
  return Buffer.isBuffer(value) ? value.toString('utf8') : String(value);
}

/** The id of a user, if it can be that of the account too: then what refers to it stays true. */
export function uuidOf(id: unknown): string | null {
  const text = String(id).toLowerCase();
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text) ? text : null;
}

/** Whether a column says yes: a flag, in the form of any database, or the time since when it holds. */
export function flagOf(value: unknown): boolean {
  if (value instanceof Date) return true;
  if (Buffer.isBuffer(value)) return value.some((byte) => byte !== 0);
  return value !== null && value !== undefined && !/^(0|f|false|n|no|)$/i.test(String(value).trim());
}

/**
 * The time in a column. Text without a time zone, as SQLite and some drivers return it, is taken for UTC, and a number for
 * milliseconds since 1970, or for seconds if it would be in 1970 otherwise.
 */
export function timeOf(value: unknown): Date | null {
  if (value === null || value === undefined || value === '') return null;
  if (value instanceof Date) return value;
  if (typeof value === 'number' || /^\d+$/.test(String(value))) {
    const number = Number(value);
    return new Date(number < 100_000_000_000 ? number * 1000 : number);
  }
  const text = String(value).trim().replace(' ', 'T').replace(' ', '');
  return new Date(/(Z|[+-]\d\d(:?\d\d)?)$/i.test(text) ? text.replace(/([+-]\d\d)$/, '$1:00') : `${text}Z`);
}

/** How an importer names the providers of the app: an id in the other system, and the one in `plugins`; null leaves it out. */
export type ProviderNames = Readonly<Record<string, string | null>>;

/** The links of a user, by the names of the app's providers. */
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
