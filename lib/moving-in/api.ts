import type { Core } from '../core/core.js';
import { endingWithObject } from '../known-keys.js';
import type { ImportRow } from '../users/imported.js';
import {
  type ImportReport,
  type ImportUpdateReport,
  type ImportUsersOptions,
  importUsers,
} from './import.js';
import {
  type ImportOrganizationRow,
  type ImportOrganizationsOptions,
  type ImportOrganizationsReport,
  importOrganizations,
} from './import-organizations.js';

/** `auth.movingIn`: imports users and organizations from another system. */
export class MovingInApi {
  readonly #core: Core;

  /** @internal */
  constructor(core: Core) {
    this.#core = core;
    // `rows` can be an object that is iterable.
    endingWithObject('auth.movingIn', this, ['importUsers', 'importOrganizations']);
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

  /**
   * Imports the organizations of another system, after its users. Each is imported with all of its members, or skipped. You
   * can rerun an interrupted import: it finds the organizations that were imported, and leaves them as they are. An
   * organization that was deleted since is not created again. An import sends no emails and emits no events.
   *
   * @example
   * const { organizations, skipped } = await auth.movingIn.importOrganizations([
   *   { ref: 3, name: 'Acme', slug: 'acme', members: [{ userRef: 7, role: 'owner' }, { userRef: 8, role: 'member' }] },
   * ]);
   *
   * @param rows a list, or an iterable or async iterable; one batch at a time is held in memory
   * @throws AuthError `unavailable`; errors that `rows`, hooks and `onProgress` throw. The organizations before the error
   *   remain imported
   * @throws TypeError on invalid options, and without `organizations()` in the plugins
   */
  importOrganizations(
    rows: Iterable<ImportOrganizationRow> | AsyncIterable<ImportOrganizationRow>,
    options?: ImportOrganizationsOptions,
  ): Promise<ImportOrganizationsReport> {
    return importOrganizations(this.#core, rows, options);
  }
}
