import type { Core } from '../core/core.js';
import { endingWithObject } from '../known-keys.js';
import type { ImportRow } from '../users/imported.js';
import {
  type ImportReport,
  type ImportUpdateReport,
  type ImportUsersOptions,
  importUsers,
} from './import.js';

/** `auth.movingIn`: imports users from another system. */
export class MovingInApi {
  readonly #core: Core;

  /** @internal */
  constructor(core: Core) {
    this.#core = core;
    // `rows` can be an object that is iterable.
    endingWithObject('auth.movingIn', this, ['importUsers']);
  }

  /**
   * Imports the users of another system with their password hashes, links to providers and second factors, in batches.
   * A row that cannot be imported is skipped. You can rerun an interrupted import: it finds the users that were
   * imported, and leaves them as they are. With `update: true`, it applies the changes of the rows since then, except
   * to accounts that were changed here. An import sends no emails and emits no events.
   *
   * @example
   * const { users, skipped } = await auth.movingIn.importUsers([
   *   { ref: 7, email: 'ada@example.com', emailVerified: true, passwordHash: '$2y$10$…' },
   * ]);
   *
   * @param rows a list, or an iterable or async iterable; one batch at a time is held in memory
   * @throws AuthError `unavailable`; errors that `rows`, hooks and `onProgress` throw. The batches before the error
   *   remain imported
   * @throws TypeError on invalid options
   */
  importUsers(
    rows: Iterable<ImportRow> | AsyncIterable<ImportRow>,
    options: ImportUsersOptions & { readonly update: true },
  ): Promise<ImportUpdateReport>;
  importUsers(
    rows: Iterable<ImportRow> | AsyncIterable<ImportRow>,
    options?: ImportUsersOptions,
  ): Promise<ImportReport>;
  importUsers(
    rows: Iterable<ImportRow> | AsyncIterable<ImportRow>,
    options?: ImportUsersOptions,
  ): Promise<ImportReport> {
    return importUsers(this.#core, rows, options);
  }
}
