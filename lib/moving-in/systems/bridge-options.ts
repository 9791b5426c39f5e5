import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Sequelize } from 'sequelize';
import * as z from 'zod';
import { flag } from '../../config/options.js';
import { isSequelize } from '../../database/connect.js';
import type { KeepOld, OldUser, OldUserId } from '../bridge.js';
import type { SourceIdentity } from './values.js';

/** Whether a signature is the HMAC-SHA-256 of a value under one of the secrets, in base64 with or without padding. */
export function isSigned(value: string, signature: string, secrets: readonly string[]): boolean {
  const given = Buffer.from(withoutPadding(signature));
  return secrets.some((secret) => {
    const digest = createHmac('sha256', secret).update(value).digest('base64');
    const expected = Buffer.from(withoutPadding(digest));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** Splits a value at its last dot. Null if there is no dot, or nothing before it. */
export function splitSigned(value: string): { readonly value: string; readonly signature: string } | null {
  const dot = value.lastIndexOf('.');
  return dot < 1 ? null : { value: value.slice(0, dot), signature: value.slice(dot + 1) };
}

function withoutPadding(base64: string): string {
  return base64.replace(/={1,2}$/, '');
}

/** Options of every bridge. */
export interface BridgeOptions {
  /** The time after which the bridge does nothing, so that it can safely stay in the config. @default never */
  until?: Date | undefined;
  /** The exact name of the cookie. @default the previous system's usual name */
  cookieName?: string | undefined;
  /**
   * Whether the previous system is still running, so that its sessions stay active there. Use it to migrate in steps,
   * or to migrate back. When all sessions of a user are ended here, latchkey calls `endAll` with the id of the account,
   * after the commit and for at most 5 seconds. Without `endAll`, the user's sessions in the previous system then
   * continue.
   * @default false
   */
  keepOld?: boolean | { endAll: (userId: string) => unknown } | undefined;
}

/** The result of a `userId` function: an id or data about the user, or null if the session must not be taken over. */
export type FoundUser = OldUserId | OldUser | null | undefined | false;

const endAllFunction = z.custom<(userId: string) => unknown>(
  (it) => typeof it === 'function',
  'must be a function that ends all sessions of a user in the previous system',
);
/** @internal */
export const sharedOptions = {
  until: z
    .date('must be a Date')
    .refine((it) => !Number.isNaN(it.getTime()), 'is not a valid Date')
    .optional(),
  cookieName: z
    .string('must be the name of a cookie')
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of a cookie (RFC 6265)')
    .optional(),
  keepOld: z
    .union(
      [flag, z.strictObject({ endAll: endAllFunction })],
      'must be true, or { endAll } with a function that ends all sessions of a user in the previous system',
    )
    .default(false),
};
/** Returns how a bridge treats the sessions of the previous system. */
export function keepOldOf(given: boolean | KeepOld): KeepOld | null {
  return given === true ? { endAll: null } : given || null;
}
/** @internal */
export const sequelizeOption = z.custom<Sequelize>(isSequelize, {
  error: 'must be a Sequelize instance on the database of the previous system',
});
const tableName = z
  .string('must be the name of a table')
  .regex(/^[^"`[\]\0;]{1,128}$/, 'must be the name of a table, without quotes');
const columnName = z
  .string('must be the name of a column')
  .regex(/^[^"`[\]\0;]{1,128}$/, 'must be the name of a column, without quotes');
/**
 * The names of columns that differ from the usual ones, by table. Null means that the app does not have the column.
 * The type parameter is the option as its interface declares it.
 *
 * @param tables the keys of the columns, by table
 *
 * @internal
 */
export const columnsOption =
  <Given>() =>
  (tables: Readonly<Record<string, readonly string[]>>) => {
    const shapes = Object.entries(tables).map(([table, keys]) => {
      const shape = keys.map((key) => [key, columnName.nullable().optional()]);
      return [table, z.strictObject(Object.fromEntries(shape)).optional()];
    });
    const schema: unknown = z.strictObject(Object.fromEntries(shapes)).optional();
    return schema as z.ZodType<Given, Given>;
  };
/** The names of tables that differ from the usual ones. @internal */
export const tablesOption = () =>
  z.strictObject({ session: tableName.optional(), user: tableName.optional() }).prefault({});
/** A secret, or a list of several. @internal */
export const secretsOption = (message: string) =>
  z
    .union([z.string().min(1, message), z.array(z.string(message).min(1, message)).min(1, message)], message)
    .transform((one) => [one].flat());
/** A function of the app that identifies a user. @internal */
export const userFunction = <Row extends unknown[]>() =>
  z.custom<(...row: Row) => FoundUser | Promise<FoundUser>>(
    (it) => typeof it === 'function',
    'must be a function that returns the id of an account',
  );

/** Validates the result of `userId`. Null if the session must not be taken over. @throws TypeError */
export function userOf(found: FoundUser, where: string): OldUser | null {
  if (found === null || found === undefined || found === false || found === '') return null;
  if (typeof found !== 'object') return userOf({ id: found }, where);
  const { id = null, email = null, emailVerified = false, imported, ref = null, source = null } = found;
  const isId = [id, ref].every((it) => it === null || ['string', 'number', 'bigint'].includes(typeof it));
  const isEmail = email === null || typeof email === 'string';
  const isNamed = [id, ref, email, imported ?? null].some((it) => it !== null);
  const isSource = source === null || typeof source === 'string';
  if (isId && isSource && isEmail && typeof emailVerified === 'boolean' && isNamed)
    return { id, email, emailVerified, imported, ref, source };
  throw new TypeError(
    `latchkey: ${where}: userId must return an id, { ref }, { id, email, emailVerified }, or null if there is no user`,
  );
}

/** Returns the user of a row that the previous system's importer also reads. */
export function userOfRow({ id, email, emailVerified, ...imported }: SourceIdentity): OldUser {
  return { id, email, emailVerified, imported };
}

/** Returns the name of a previous system's cookie, with a prefix if it is Secure (RFC 6265bis, 4.1.3). */
export function secureName(name: string, isSecure: boolean): string {
  return isSecure ? `__Secure-${name}` : name;
}
