import { resultOf, translate } from './sqlite-driver.js';

/** A transaction of `@libsql/client`. It has no connection that its other statements could use. */
export interface LibsqlTransaction {
  readonly closed: boolean;
  execute(statement: { readonly sql: string; readonly args: unknown }): Promise<{
    readonly rows: readonly Readonly<Record<string, unknown>>[];
    readonly rowsAffected: number;
    readonly lastInsertRowid?: bigint | undefined;
  }>;
}

type Done = (this: object, error: Error | null, rows?: object[]) => void;

/** Returns a transaction of `@libsql/client` in the form of the driver's connections. */
export function onLibsql(transaction: LibsqlTransaction): object {
  const execute = (sql: string, ...rest: unknown[]) => {
    const done = rest.find((one): one is Done => typeof one === 'function');
    const args = rest.find((one) => typeof one !== 'function') ?? [];
    transaction.execute({ sql, args }).then(
      ({ rows, rowsAffected, lastInsertRowid = 0 }) =>
        done?.call(resultOf(Number(lastInsertRowid), rowsAffected), null, rows.map(withBuffers)),
      (error) => done?.call(resultOf(0, 0), translate(error)),
    );
  };
  return { serialize: (work: () => unknown) => work(), all: execute, run: execute };
}

function withBuffers(row: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof ArrayBuffer ? Buffer.from(value) : value,
    ]),
  );
}
