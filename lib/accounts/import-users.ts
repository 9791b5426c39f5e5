import * as z from 'zod';
import { readOptions } from '../config/options.js';
import type { Core } from '../core/core.js';
import { requirePasswords } from '../core/passwords.js';
import type { NewAccount } from '../users/create.js';
import type {
  ImportedAccount,
  ImportReport,
  ImportRow,
  ImportUsersOptions,
  LegacyVerifiers,
  Refusal,
  SkippedRow,
} from '../users/imported.js';
import { ImportRows, refOf } from './import.js';

const BATCH = 500;

const OBJECT = 'must be an object of functions, by name';
const schema = () =>
  z.strictObject({
    onProgress: z.custom<() => unknown>((it) => typeof it === 'function', 'must be a function').optional(),
    dryRun: z.boolean('must be true or false').default(false),
    verifyLegacy: z.custom<LegacyVerifiers>((it) => typeof it === 'object' && it !== null, OBJECT).optional(),
    transaction: z.unknown().optional(),
  });

type Rows = Iterable<unknown> | AsyncIterable<unknown>;

/** A row, and the account that it describes or why it is skipped. */
interface Read {
  readonly ref: SkippedRow['ref'];
  readonly read: NewAccount | Refusal;
}

/** Moves users in from another system. */
export interface ImportApi {
  /**
   * Imports the users of another system with their password hashes, links to providers and second factors, in batches. A row
   * that cannot be imported is skipped. A run that broke off can be repeated: users who were imported are found, and left as
   * they are. There are no emails and no events.
   *
   * @example
   * const { users, skipped } = await auth.importUsers([
   *   { ref: 7, email: 'ada@example.com', emailVerified: true, passwordHash: '$2y$10$…' },
   * ]);
   *
   * @param rows a list, or an iterable or async iterable, of which one batch is held in memory
   * @throws AuthError `unavailable`; what `rows`, hooks and `onProgress` throw. The batches before it stay
   * @throws TypeError on invalid options
   */
  importUsers(
    rows: Iterable<ImportRow> | AsyncIterable<ImportRow>,
    options?: ImportUsersOptions,
  ): Promise<ImportReport>;
}

/** The programmatic API. */
export function importApi(core: Core): ImportApi {
  return {
    async importUsers(rows, options = {}) {
      if (typeof rows === 'string' || !(Symbol.iterator in rows || Symbol.asyncIterator in rows))
        throw new TypeError(
          'latchkey: auth.importUsers: rows must be a list, or an iterable or async iterable',
        );
      const { verifyLegacy } = readOptions('auth.importUsers', schema, options);
      if (verifyLegacy) requirePasswords(core, 'verifyLegacy').useLegacy(verifyLegacy);
      return core.inTransaction(options.transaction, () => importAll(core, rows, options));
    },
  };
}

async function importAll(
  core: Core,
  rows: Rows,
  { onProgress, dryRun = false, verifyLegacy }: ImportUsersOptions,
): Promise<ImportReport> {
  await core.database.ready();
  const reader = new ImportRows(core, verifyLegacy);
  const options = { via: 'import', isTrial: dryRun, seen: new Set<string>() } as const;
  const users: ImportedAccount[] = [];
  const skipped: SkippedRow[] = [];
  let count = 0;
  for await (const batch of inBatches(core, rows)) {
    const all: Read[] = [];
    for (const row of batch) {
      all.push({ ref: refOf(row) ?? count, read: await reader.read(row) });
      count++;
    }
    const accounts = all.flatMap(({ read }) => ('user' in read ? read : []));
    const outcomes = await core.signUp.createMany(accounts, options);
    for (const { ref, read } of all) {
      const outcome = 'user' in read ? outcomes.get(read) : read;
      if (outcome && 'id' in outcome) users.push({ ref, id: outcome.id });
      else if (outcome) skipped.push({ ref, code: outcome.code, detail: outcome.detail });
    }
    const progress = { rows: count, imported: users.length, skipped: skipped.length };
    await core.context.forApp(() => onProgress?.(progress));
  }
  return { users, skipped };
}

/** Reads the app's rows outside of its transaction, unless they name it. */
async function* inBatches(core: Core, rows: Rows): AsyncGenerator<unknown[]> {
  const iterator = Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
  let isDone = false;
  try {
    while (!isDone) {
      const batch: unknown[] = [];
      while (!isDone && batch.length < BATCH) {
        const next = await core.context.forApp(() => iterator.next());
        isDone = next.done === true;
        if (!isDone) batch.push(next.value);
      }
      if (batch.length > 0) yield batch;
    }
  } finally {
    if (!isDone) await iterator.return?.();
  }
}
