import type { Dialect } from '../database/connect.js';

/** An expression that a statement selects, with its name in the result. */
export interface Selected {
  readonly sql: string;
  readonly name: string;
  /** Whether the value is a short text, an integer or null, which JSON represents exactly. */
  readonly isPlain: boolean;
}

/** The part of a statement between SELECT and FROM. */
export function listOf(selected: readonly Selected[]): string {
  return selected.map(({ sql, name }) => `${sql} AS ${name}`).join(', ');
}

const PACKED = 'packed';
/** In older versions of SQLite, a function has at most 127 arguments (https://sqlite.org/limits.html). */
const MAX_PACKED = 127;

/**
 * What a frequent statement selects. On SQLite, plain values are selected as one JSON array, because on Node 20 the driver
 * takes longer to return each value than to return their JSON.
 */
export class PackedList {
  /** The part of the statement between SELECT and FROM. */
  readonly sql: string;
  readonly #names: readonly string[];

  constructor(dialect: Dialect, selected: readonly Selected[]) {
    const packed = dialect === 'sqlite' ? selected.filter(({ isPlain }) => isPlain).slice(0, MAX_PACKED) : [];
    this.#names = packed.map(({ name }) => name);
    const values = packed.map(({ sql }) => sql).join(', ');
    const others = selected.filter((one) => !packed.includes(one));
    this.sql = listOf(
      packed.length > 0
        ? [...others, { sql: `json_array(${values})`, name: PACKED, isPlain: false }]
        : others,
    );
  }

  /** Adds the packed values to a row of the result, by name. */
  unpack(raw: object): void {
    if (this.#names.length === 0) return;
    const row = raw as Record<string, unknown>;
    const values: readonly unknown[] = JSON.parse(String(row[PACKED]));
    for (const [index, name] of this.#names.entries()) row[name] = values[index];
  }
}
