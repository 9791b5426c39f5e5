import type { Core } from '../core/core.js';
import { readBatches } from '../database/batches.js';
import { declareNotices } from '../mail/notice-kinds.js';
import { declareEvents } from '../outbox/events.js';
import { CORE } from '../owners.js';
import type { TransactionOption } from '../sessions/request.js';
import { type Column, type Columns, columnName, snakeCase, toJson } from '../tables/column.js';
import { coreTables, users } from '../tables/core.js';
import type { ExportedRows, TableDeclaration } from '../tables/table.js';
import type { UserRecord } from '../users/record.js';

type Raw = Readonly<Record<string, unknown>>;

/**
 * The data that is stored about a user, as JSON with keys in snake_case. Tables of plugins add their own lists. It
 * contains no secrets, no hashes and no ids of other users.
 */
export interface UserExport {
  /** ISO 8601. */
  readonly exported_at: string;
  /** The account, with the fields that its user can see. */
  readonly user: Raw;
  readonly sessions: readonly Raw[];
  /** The browsers in which the user has signed in. */
  readonly devices: readonly Raw[];
  readonly account_changes: readonly Raw[];
  /** The emailed links that have not been deleted yet, including expired ones. */
  readonly emailed_links: readonly Raw[];
  readonly pending_sign_ins: readonly Raw[];
  /** The systems that the account was imported from. */
  readonly imports: readonly Raw[];
  /** The result of `hooks.exportUser`. Absent without that hook. */
  readonly app?: unknown;
  /** The rows of a plugin's table, such as `api_keys`. */
  readonly [table: string]: unknown;
}

/** `auth.exportUser` */
export interface ExportApi {
  /**
   * Returns the data that latchkey stores about a user and, with `hooks.exportUser`, the app's data. The call does not
   * count against a limit, and the user gets no notice.
   *
   * @throws AuthError `user_not_found`, and the errors of `hooks.exportUser`
   * @throws TypeError if JSON cannot represent the result of `hooks.exportUser`, and for unknown options
   */
  exportUser(userId: string, options?: TransactionOption): Promise<UserExport>;
}

/** @internal */
export function exportApi(core: Core): ExportApi {
  return {
    exportUser: (userId, options = {}) =>
      core.call('auth.exportUser', options, [], async () => {
        const data = await exportUser(core, userId);
        await core.events.together(['user.exported'], async (within) =>
          core.events.emit('user.exported', { userId }, within),
        );
        return data;
      }),
  };
}

/**
 * Exports the data of a user who asks for it, and sends them a notice. Only exports that succeed count against the
 * limit.
 *
 * @throws AuthError `rate_limited`, and like `core.change` and {@link exportUser}
 */
export function exportOwnData(core: Core, userId: string, sessionId: string): Promise<UserExport> {
  return core.limiter.countSuccess('dataExport', userId, async () => {
    const data = await exportUser(core, userId);
    await core.change(userId, { sessionId }, async ({ user }, transaction) => {
      await core.notices.event(exportNotices['data-exported'], user, transaction);
      core.events.emit('user.exported', { userId }, transaction);
    });
    return data;
  });
}

async function exportUser(core: Core, userId: string): Promise<UserExport> {
  const record = await core.users.require(userId);
  const data: Record<string, unknown> = {
    exported_at: core.database.clock.date().toISOString(),
    user: present(record.account, core.users.columns),
  };
  for (const { declaration, rows } of exportedTables(core))
    data[rows.as] = await rowsOf(core, declaration, rows, userId);
  return { ...data, ...(await ofApp(core, record)) } as unknown as UserExport;
}

/** A table whose rows are exported. */
export interface ExportedTable {
  readonly declaration: TableDeclaration;
  readonly rows: ExportedRows;
}

/** Returns the tables from which a user's rows are exported, except the table of users. */
export function exportedTables({ contributions }: Core): readonly ExportedTable[] {
  const tables: readonly TableDeclaration[] = [coreTables, ...contributions.map(({ tables = {} }) => tables)]
    .flatMap((some) => Object.values(some as Readonly<Record<string, TableDeclaration>>))
    .filter(({ name }) => name !== users.name);
  return tables.flatMap((declaration) =>
    typeof declaration.exported === 'string' ? [] : { declaration, rows: declaration.exported },
  );
}

/** Returns the columns that are exported. */
export function exportedColumns(columns: Columns): Columns {
  return Object.fromEntries(Object.entries(columns).filter(([, { inExport }]) => inExport === true));
}

/** Reads a user's rows in batches, because an account can have many events. */
async function rowsOf(
  core: Core,
  declaration: TableDeclaration,
  { by, without = (row) => row }: ExportedRows,
  userId: string,
): Promise<Raw[]> {
  const { columns } = declaration;
  const fields = new Set(Object.keys(exportedColumns(core.users.columns)));
  const [key = ''] = Object.keys(columns);
  const nameOf = (attribute: string) => `r.${columnName(attribute, columns[attribute] as Column)}`;
  const rows = core.table(declaration).only('r', key, ...Object.keys(exportedColumns(columns)));
  const found: Raw[] = [];
  const batches = readBatches<Raw>((last, size) => {
    const isLater = last ? `AND ${nameOf(key)} > :after` : '';
    const after = (last?.[key] ?? null) as string | Buffer | null;
    return rows.select(`WHERE ${nameOf(by)} = :userId ${isLater} ORDER BY ${nameOf(key)} LIMIT ${size}`, {
      userId,
      after,
    });
  });
  for await (const batch of batches)
    found.push(...batch.map((row) => present(without(row, fields), columns)));
  return found;
}

function present(row: Raw, columns: Columns): Raw {
  const exported = Object.entries(exportedColumns(columns));
  return Object.fromEntries(
    exported.map(([attribute, column]) => [snakeCase(attribute), toJson(row[attribute] ?? null, column)]),
  );
}

/** @throws TypeError if JSON cannot represent the result of the app's hook, and the errors of the hook */
async function ofApp(
  { settings, context, users, database }: Core,
  record: UserRecord,
): Promise<{ app?: unknown }> {
  const { exportUser } = settings.hooks;
  if (!exportUser) return {};
  const user = users.forCode(record);
  const { handle } = context.joined ?? {};
  const value = handle
    ? await database.inHook(handle, (given) => exportUser(user, given))
    : await context.forApp(() => exportUser(user, { transaction: undefined, connection: undefined }));
  return { app: throughJson(value) };
}

/** Throws even if there is no value, because an incomplete export must not look complete. */
function throughJson(value: unknown): unknown {
  let cause: unknown;
  try {
    const json = JSON.stringify(value);
    if (json !== undefined) return JSON.parse(json);
  } catch (error) {
    cause = error;
  }
  throw new TypeError(
    'latchkey: hooks.exportUser must return a value that JSON can represent: return null if there is no data',
    { cause },
  );
}

export const exportNotices = declareNotices(CORE, { 'data-exported': {} });

declare module '../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof exportNotices, unknown> {}
}

declare module '../outbox/events.js' {
  interface EventDetails {
    /** The data of a user was exported, by the user or by code. */
    'user.exported': { readonly userId: string };
  }
}

declareEvents(CORE, { 'user.exported': {} });
