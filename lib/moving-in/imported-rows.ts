import type { Transaction } from 'sequelize';
import type { Core } from '../core/core.js';
import { derivedUuid } from '../crypto/uuid.js';
import { readBatches } from '../database/batches.js';
import type { Database } from '../database/database.js';
import { type ImportedUserColumns, importedUsers } from '../tables/core.js';
import type { Selection, Table } from '../tables/table.js';
import type { RowValues } from '../users/imported.js';
import {
  ENSURED,
  type ImportedLine,
  type ImportedUsers,
  type ImportKey,
  type Ref,
} from '../users/imported-users.js';

/** Matches the name of a source of rows. */
export const SOURCE = /^[A-Za-z0-9._:-]{1,64}$/;

/** The values that identify an imported user whose row has no id. */
export interface ImportedUser {
  readonly ref: string | null;
  /** The email and the username in canonical form, or other identities that the user signs in with. */
  readonly names: readonly (string | null)[];
  readonly createdAt: Date | null;
}

/**
 * Derives the id of an imported account. The same row always gets the same id, so that an interrupted import can be
 * rerun and sessions of the previous system lead to the account. No sign-up can get this id.
 */
export function importedId({ ref, names, createdAt }: ImportedUser): string {
  return derivedUuid(JSON.stringify(['import', ref, ...names]), createdAt?.getTime() ?? 0);
}

/**
 * Finds the accounts of imported rows, and remembers the values that were last applied to them. The line of an
 * organization has the organization's id and no account, and only a hash of the ref.
 */
export class ImportedRows {
  readonly #database: Database;
  readonly #table: Table<ImportedUserColumns>;
  readonly #line: Selection<ImportedLine>;
  readonly #imported: ImportedUsers;

  constructor(core: Core) {
    this.#database = core.database;
    this.#table = core.table(importedUsers);
    this.#line = this.#table.whole('i');
    this.#imported = core.imported;
  }

  /**
   * Finds the account of the row with this ref, from one source or from the only importer that had such a row. A row
   * whose account was deleted counts too, because its user must not get the account of another system's row.
   */
  async userId(ref: Ref, source: string | null): Promise<string | null> {
    const key = await this.#imported.knownKey();
    if (!key) return null;
    const [line, ...others] = await this.#line.select(
      `WHERE i.ref_hash = :hash AND ${source === null ? 'i.source <> :source' : 'i.source = :source'}`,
      { hash: key.hashOf({ ref }), source: source ?? ENSURED },
    );
    return others.length > 0 ? null : (line?.userId ?? null);
  }

  /** Whether an account belongs to a row with this ref, from any importer. */
  async isOf(userId: string, ref: Ref): Promise<boolean> {
    const key = await this.#imported.knownKey();
    const lines = key ? await this.ofUser(userId, null) : [];
    return lines.some(({ refHash }) => key?.hashOf({ ref }).equals(refHash));
  }

  /** Returns the lines of an account. @param source null for all importers */
  ofUser(userId: string, source: string | null): Promise<ImportedLine[]> {
    return this.#line.select(
      `WHERE i.user_id = :userId AND ${source === null ? 'i.source <> :source' : 'i.source = :source'}`,
      { userId, source: source ?? ENSURED },
    );
  }

  /** Returns the id of the organization of a row, even if it was deleted since. Null if the row was not imported. */
  async organizationId(ref: Ref, source: string, transaction: Transaction): Promise<string | null> {
    const [line] = await this.#line.select(
      `WHERE i.ref_hash = :hash AND i.source = :source ${this.#database.currentRead}`,
      { hash: await this.#hashOfOrganization(ref, transaction), source },
      transaction,
    );
    return line?.id ?? null;
  }

  /**
   * Remembers the organization of a row.
   *
   * @throws UniqueConstraintError (Sequelize) if another import has remembered the same row in the meantime
   */
  async rememberOrganization(id: string, ref: Ref, source: string, transaction: Transaction): Promise<void> {
    const refHash = await this.#hashOfOrganization(ref, transaction);
    const nothing = { ref: null, isNumber: null, userId: null, stamps: null, changed: [] };
    const createdAt = this.#database.clock.date();
    await this.#table.insert({ id, source, refHash, ...nothing, createdAt }, transaction);
  }

  /** An organization can have the same ref as a user. */
  async #hashOfOrganization(ref: Ref, transaction: Transaction): Promise<Buffer> {
    return (await this.#imported.key(transaction)).hmac(`organization\n${ref}`);
  }

  /**
   * Records that the account of a line matches its row.
   *
   * @param lost the keys of the row that were skipped, whose former values stay
   */
  async applied(
    { id, stamps: former }: ImportedLine,
    values: RowValues,
    lost: readonly string[],
    transaction: Transaction,
  ): Promise<void> {
    const stamps = stampsOf(await this.#imported.key(transaction), values, lost, former);
    await this.#table.update({ stamps, changed: [] }, { id }, transaction);
  }

  /** Deletes the lines of an account, as if its rows had never been imported. */
  async drop(userId: string, transaction: Transaction): Promise<void> {
    await this.#table.delete({ userId }, transaction);
  }

  /** Returns the lines of a source whose accounts exist, in batches. */
  ofSource(source: string, users: string): AsyncGenerator<readonly ImportedLine[]> {
    return readBatches<ImportedLine>((last, size) =>
      this.#line.select(
        `JOIN ${users} u ON u.id = i.user_id AND u.deleted_at IS NULL
         WHERE i.source = :source ${last ? 'AND i.id > :after' : ''} ORDER BY i.id LIMIT ${size}`,
        { source, after: last?.id ?? null },
      ),
    );
  }
}

/** Returns hashes of the values of a row, which do not reveal them, as JSON. */
export function stampsOf(
  key: ImportKey,
  values: RowValues,
  lost: readonly string[] = [],
  former: string | null = null,
): string {
  const stamps = Object.entries(values).map(([name, value]) => [name, stampOf(key, name, value)]);
  const kept = Object.entries(JSON.parse(former ?? '{}') as RowValues).filter(([name]) =>
    lost.includes(name),
  );
  return JSON.stringify({ ...Object.fromEntries(stamps), ...Object.fromEntries(kept) });
}

function stampOf(key: ImportKey, name: string, value: string): string {
  return key.hmac(`value\n${name}\n${value}`).subarray(0, 16).toString('base64url');
}

/** Returns the keys whose values differ from the row as it was last applied. Null if its last values are not known. */
export function changedKeys(
  key: ImportKey,
  { stamps }: Pick<ImportedLine, 'stamps'>,
  values: RowValues,
): string[] | null {
  if (stamps === null) return null;
  const before = JSON.parse(stamps) as RowValues;
  const names = [...new Set([...Object.keys(before), ...Object.keys(values)])];
  return names.filter((name) => {
    const now = values[name];
    return now === undefined ? before[name] !== undefined : before[name] !== stampOf(key, name, now);
  });
}

/** Returns the ref of a line in the type that it was imported with. */
export function refOfLine({ ref, isNumber }: ImportedLine): Ref {
  if (ref === null || isNumber !== true) return ref ?? '';
  const number = Number(ref);
  return String(number) === ref ? number : BigInt(ref);
}
