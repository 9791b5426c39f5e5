import type { CollectedReads } from '../context/call.js';
import { turnEnd } from '../timers.js';

interface Read {
  readonly sql: string;
  readonly columns: readonly string[];
}

type Results = ReadonlyMap<Read, Promise<object[]> | object[]>;

interface Batch {
  readonly reads: Map<string, Read>;
  readonly results: Promise<Results>;
}

/** A row of the joined statement: it has values only in the columns of the read that it belongs to. */
interface Joined {
  readonly part: number | string;
  /** The position of the row, from 1. Zero if the read has no rows. */
  readonly place: number | string;
  readonly [column: string]: unknown;
}

/**
 * Sends the reads that are added in the same turn of the event loop as one statement, and equal reads only once. Their
 * callers share the rows, so callers must not change them.
 */
export class Together implements CollectedReads {
  #batch: Batch | undefined;

  constructor(
    private readonly select: (sql: string) => Promise<object[]>,
    /** Returns null if the database rejects the statement with an error. */
    private readonly selectUnlessRefused: (sql: string) => Promise<object[] | null>,
  ) {}

  async add(sql: string, columns: readonly string[]): Promise<object[]> {
    this.#batch ??= this.#begin();
    const { reads, results } = this.#batch;
    const read = reads.get(sql) ?? { sql, columns };
    reads.set(sql, read);
    return (await results).get(read) ?? [];
  }

  #begin(): Batch {
    const reads = new Map<string, Read>();
    const results = turnEnd().then(() => {
      this.#batch = undefined;
      return this.#send([...reads.values()]);
    });
    return { reads, results };
  }

  async #send(reads: readonly Read[]): Promise<Results> {
    const together = reads.filter((read) => numbered(read, 0) !== null);
    const others = this.#sendAlone(reads.filter((read) => !together.includes(read)));
    const rows = together.length > 1 ? await this.selectUnlessRefused(joined(together)) : null;
    // If the statement was rejected, one of the reads might be wrong, or all of them together are too wide for one row.
    const results = rows ? separated(together, rows as Joined[]) : this.#sendAlone(together);
    return new Map([...results, ...others]);
  }

  #sendAlone(reads: readonly Read[]): Results {
    return new Map(
      reads.map((read) => {
        const rows = this.select(read.sql);
        // Each caller that awaits the promise gets the error.
        rows.catch(() => undefined);
        return [read, rows];
      }),
    );
  }
}

/**
 * Joins reads to one statement. Its rows contain the read that they belong to, and their place in it. The values keep
 * their types, because each read has its own columns.
 */
function joined(reads: readonly Read[]): string {
  const places = reads.map((_read, part) => `q${part}.place`);
  const columns = reads.flatMap(({ columns: own }, part) => own.map((name) => `q${part}.${name}`));
  const named = columns.map((column, index) => `${column} AS c${index}`);
  const parts = reads.map((_read, part) => `SELECT ${part} AS part`);
  const joins = reads.map(
    (read, part) => `LEFT JOIN (${numbered(read, part)}) q${part} ON q${part}.part = p.part`,
  );
  return (
    `SELECT p.part AS part, COALESCE(${places.join(', ')}, 0) AS place, ${named.join(', ')} ` +
    `FROM (${parts.join(' UNION ALL ')}) p ${joins.join(' ')}`
  );
}

const SELECT = /^\s*SELECT\b(?!\s+DISTINCT\b)/i;
const ORDER_BY = /\bORDER BY\b/i;
/** The order of a statement, by columns of its tables, and whether it has a limit. */
const ORDER =
  /\bORDER BY ([a-z][\w.]*(?: ASC| DESC)?(?:,\s*[a-z][\w.]*(?: ASC| DESC)?)*)(\s+LIMIT \d+)?\s*$/i;

/**
 * Adds the place of each row to a read, because a join does not keep the order. Returns null if the order cannot be
 * derived from the read's SQL.
 */
function numbered({ sql, columns }: Read, part: number): string | null {
  const [order = '', limit] = ORDER.exec(sql)?.slice(1) ?? [];
  if (!SELECT.test(sql) || (order === '' && ORDER_BY.test(sql))) return null;
  const over = order && `ORDER BY ${order}`;
  if (limit) {
    // MariaDB would number all rows before it applies the limit, so they are numbered in an outer SELECT, which orders
    // them by the names in the result.
    const named = order.replace(/(\w+)\.(\w+)/g, '$1_$2');
    const isShown = named.split(/,\s*/).every((term) => columns.includes(term.replace(/ .*/, '')));
    if (!isShown) return null;
    return `SELECT ${part} AS part, ROW_NUMBER() OVER (ORDER BY ${named}) AS place, x.* FROM (${sql}) x`;
  }
  return sql.replace(SELECT, `SELECT ${part} AS part, ROW_NUMBER() OVER (${over}) AS place,`);
}

function separated(reads: readonly Read[], rows: readonly Joined[]): Results {
  let width = 0;
  const parts = reads.map(({ columns }) => {
    const names = columns.map((name, index) => [name, `c${width + index}`] as const);
    width += columns.length;
    return { names, rows: [] as Joined[] };
  });
  for (const row of rows) if (Number(row.place) > 0) parts[Number(row.part)]?.rows.push(row);
  return new Map(
    parts.map(({ names, rows: own }, part) => {
      own.sort((a, b) => Number(a.place) - Number(b.place));
      const result = own.map((row) => Object.fromEntries(names.map(([name, key]) => [name, row[key]])));
      return [reads[part] as Read, result];
    }),
  );
}
