import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Sequelize } from 'sequelize';
import * as z from 'zod';
import type { ImportedRow, OldUser, OldUserId } from '../config/bridge.js';
import { isSequelize } from '../database/connect.js';

/** Whether a signature is the HMAC-SHA-256 of a value under one of the secrets, in base64 with or without padding. */
export function isSigned(value: string, signature: string, secrets: readonly string[]): boolean {
  const given = Buffer.from(withoutPadding(signature));
  return secrets.some((secret) => {
    const digest = createHmac('sha256', secret).update(value).digest('base64');
    const expected = Buffer.from(withoutPadding(digest));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** Splits a value at its last dot. Null if there is none, or nothing before it. */
export function splitSigned(value: string): { readonly value: string; readonly signature: string } | null {
  const dot = value.lastIndexOf('.');
  return dot < 1 ? null : { value: value.slice(0, dot), signature: value.slice(dot + 1) };
}

function withoutPadding(base64: string): string {
  return base64.replace(/={1,2}$/, '');
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Options of every bridge. */
export interface BridgeOptions {
  /** From when on the bridge does nothing, so that it can be forgotten in the config. @default never */
  until?: Date | undefined;
  /** The exact name of the cookie. @default the one that the older system gives it */
  cookieName?: string | undefined;
}

/** What a `userId` function returns: an id, or what is known of the user; null if the session is not to be taken over. */
export type FoundUser = OldUserId | OldUser | null | undefined | false;

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
};
/** @internal */
export const sequelizeOption = z.custom<Sequelize>(isSequelize, {
  error: 'must be a Sequelize instance on the database of the older system',
});
/** @internal */
export const tableName = z
  .string('must be the name of a table')
  .regex(/^[^"`[\]\0;]{1,128}$/, 'must be the name of a table, without quotes');
/** A secret, or a list of several. @internal */
export const secretsOption = (message: string) =>
  z
    .union([z.string().min(1, message), z.array(z.string(message).min(1, message)).min(1, message)], message)
    .transform((one) => [one].flat());
/** A function of the app that names a user. @internal */
export const userFunction = <Row extends unknown[]>() =>
  z.custom<(...row: Row) => FoundUser | Promise<FoundUser>>(
    (it) => typeof it === 'function',
    'must be a function that returns the id of an account',
  );

/** What `userId` returned, checked. Null if the session is not to be taken over. @throws TypeError */
export function userOf(found: FoundUser, where: string): OldUser | null {
  if (found === null || found === undefined || found === false || found === '') return null;
  if (typeof found !== 'object') return userOf({ id: found }, where);
  const { id = null, email = null, emailVerified = false, imported } = found;
  const isId = id === null || ['string', 'number', 'bigint'].includes(typeof id);
  const isEmail = email === null || typeof email === 'string';
  if (isId && isEmail && typeof emailVerified === 'boolean' && (id !== null || email !== null))
    return { id, email, emailVerified, imported };
  throw new TypeError(
    `latchkey: ${where}: userId must return an id, { id, email, emailVerified }, or null for nobody`,
  );
}

/** The user of a row with the columns of better-auth and Auth.js. An id that is no UUID is not one of an account. */
export function userOfRow(
  id: unknown,
  email: unknown,
  emailVerified: boolean,
  imported: Omit<ImportedRow, 'ref'> = {},
): OldUser | null {
  const uuid = UUID.test(String(id)) ? String(id) : null;
  if (typeof email === 'string')
    return { id: uuid, email, emailVerified, imported: { ref: String(id), ...imported } };
  return uuid === null ? null : { id: uuid };
}

/** The name that a system gives its cookie: with a prefix where it is Secure (RFC 6265bis, 4.1.3). */
export function secureName(name: string, isSecure: boolean): string {
  return isSecure ? `__Secure-${name}` : name;
}
