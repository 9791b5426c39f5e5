import type { Settings } from '../config/config.js';
import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import { COLUMNS } from '../migrations/checks.js';
import { columnName } from '../tables/column.js';
import type { User } from '../tables/core.js';
import type { Users } from '../users/users.js';
import type { Shown } from './signed-in.js';

/** A plugin that keeps accounts out, or asks them for more. */
interface Guarding {
  readonly plugin: string;
  /** The column of users that is set for these accounts. Its plugin's first migration creates it. */
  readonly column: string;
  /** The column with the time until when it counts, which is null for ever. */
  readonly until?: string;
  /** What the accounts have, for the log. */
  readonly what: string;
}

const GUARDING: readonly Guarding[] = [
  { plugin: 'twoFactor', column: 'second_factor_at', what: 'a second factor' },
  { plugin: 'suspension', column: 'suspended_at', until: 'suspended_until', what: 'a suspension' },
];

/** The cause of the error. */
const LEFT_OUT = new Error('the config lacks a plugin that the account needs');

/** Whether a sign-in was rejected because the config lacks a plugin that the account needs. */
export function isLeftOut(error: AuthError): boolean {
  return error.cause === LEFT_OUT;
}

function migrationOf({ plugin }: Guarding): string {
  return `0001-${plugin}`;
}

/** How long it counts that the database does not have the columns. Another process can add them. */
const LOOKED_MS = 60_000;

/** What {@link LeftOut} needs. */
interface LeftOutNeeds {
  readonly database: Database;
  readonly settings: Settings;
  readonly users: Users;
}

/**
 * Rejects sign-ins that a plugin would reject, or would ask for a second factor, if it is used with the database but is
 * not in this process's config. Otherwise, leaving the plugin out would let everyone in.
 */
export class LeftOut {
  readonly #missing: readonly Guarding[];
  #looked: { readonly at: number; readonly found: Promise<readonly Guarding[]> } | undefined;

  constructor(private readonly core: LeftOutNeeds) {
    const declared = new Set(Object.entries(core.users.declaration.columns).map((one) => columnName(...one)));
    this.#missing = GUARDING.filter(({ column }) => !declared.has(column));
  }

  /**
   * @param shown how the user has authenticated
   * @throws AuthError `unavailable`, which {@link isLeftOut} recognizes
   */
  async check({ id }: User, { aal = 1 }: Shown): Promise<void> {
    if (this.#missing.length === 0) return;
    for (const guarding of await this.#inDatabase()) {
      if (guarding.plugin === 'twoFactor' && aal === 2) continue;
      if (await this.#concerns(guarding, id)) {
        const { plugin, what } = guarding;
        this.core.settings.log.error(
          'sign_in.plugin_left_out',
          `an account with ${what} cannot sign in, because ${plugin}() is not in plugins: add it`,
        );
        throw new AuthError('unavailable', { cause: LEFT_OUT });
      }
    }
  }

  #inDatabase(): Promise<readonly Guarding[]> {
    const now = this.core.database.clock.now();
    const known = this.#looked;
    if (known && now - known.at < LOOKED_MS) return known.found;
    const found = this.#look();
    this.#looked = { at: now, found };
    found.catch(() => {
      this.#looked = undefined;
    });
    return found;
  }

  async #look(): Promise<readonly Guarding[]> {
    const { database } = this.core;
    const journal = database.table('latchkey_migrations');
    // An app's own column can have the same name, so ask for the migrations. The table need not be there.
    const there = { names: [`${journal}.name`] };
    if ((await database.read(COLUMNS[database.dialect], ['name'], there)).length === 0) return [];
    const names = this.#missing.map(migrationOf);
    const sql = `SELECT name FROM ${journal} WHERE name IN (:names)`;
    const rows = await database.read<{ name: string }>(sql, ['name'], { names });
    return this.#missing.filter((one) => rows.some(({ name }) => name === migrationOf(one)));
  }

  /** Whether a plugin would keep the account out. Looks again later if its columns are gone in the meantime. */
  async #concerns(guarding: Guarding, id: string): Promise<boolean> {
    try {
      return await this.#read(guarding, id);
    } catch (error) {
      this.#looked = undefined;
      throw error;
    }
  }

  async #read({ column, until }: Guarding, id: string): Promise<boolean> {
    const { database, users } = this.core;
    const counts = until ? ` AND (${until} IS NULL OR ${until} > :now)` : '';
    const rows = await database.read<{ one: number }>(
      `SELECT 1 AS one FROM ${users.table.name} WHERE id = :id AND ${column} IS NOT NULL${counts}`,
      ['one'],
      { id, now: database.clock.date() },
    );
    return rows.length > 0;
  }
}
