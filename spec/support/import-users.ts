import { type AnyAuth, internalsOf } from '../../lib/auth.js';
import { importUsers as importInto } from '../../lib/moving-in/import.js';
import type { ImportReport, ImportUsersOptions } from '../../lib/moving-in.js';

/** Imports users into an app that need not have the plugin `movingIn()`, because it does not import again. */
export async function importUsers(
  auth: AnyAuth,
  rows: Iterable<unknown>,
  options: Omit<ImportUsersOptions, 'update'> = {},
): Promise<ImportReport> {
  return importInto(internalsOf(auth).core, rows, options);
}
