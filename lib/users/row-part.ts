import type { Transaction } from 'sequelize';
import type { ImportRow, Refusal } from './imported.js';

/** What a plugin takes from the rows of an import. Its keys are declared with `declareRowKeys`. */
export interface RowPart<Value = unknown> {
  /** The keys of a row that it reads. */
  readonly keys: readonly (keyof ImportRow)[];
  /**
   * Reads a row in which at least one of the keys has a value.
   *
   * @returns null if there is nothing to write
   * @throws AuthError `validation_failed`, whose first error says why the row is skipped
   */
  read(row: ImportRow): Promise<Value | null>;
  /** Whether a user can sign in with it, without an email and username. @default false */
  readonly isWayIn?: boolean;
  /** The values of the plugin's columns of users. */
  columnsOf?(value: Value): Readonly<Record<string, unknown>>;
  /** What only one user may have, as keys that compare equal. */
  identitiesOf?(value: Value): readonly string[];
  /** Those identities that users have already. */
  takenAmong?(values: readonly Value[], transaction: Transaction): Promise<readonly string[]>;
  /** Why a row is skipped whose identity is taken. */
  readonly taken?: Refusal;
  /** Writes the values of new users. */
  write?(values: ReadonlyMap<string, Value>, transaction: Transaction): Promise<void>;
}
