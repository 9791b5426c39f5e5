import { turnEnd } from '../timers.js';

/**
 * The number of rows that a loop handles at a time. SQLite's driver is synchronous, so nothing else in the process runs
 * while a batch is handled. So many rows take less than 100 milliseconds.
 */
export const ROWS_AT_ONCE = 100;
/** The number of rows that a loop handles at a time if each row has statements of its own. */
export const FEW_ROWS = 10;

/** Goes through batches, and lets other work of the process continue after each. Loops over many rows use this file. */
export async function* inTurns<Batch>(
  batches: Iterable<Batch> | AsyncIterable<Batch>,
): AsyncGenerator<Batch, void, undefined> {
  for await (const batch of batches) {
    yield batch;
    await turnEnd();
  }
}

/** Divides rows into batches, and lets other work of the process continue between them. */
export async function* slicesOf<Row>(
  rows: readonly Row[],
  size = ROWS_AT_ONCE,
): AsyncGenerator<readonly Row[], void, undefined> {
  for (let at = 0; at < rows.length; at += size) {
    if (at > 0) await turnEnd();
    yield rows.slice(at, at + size);
  }
}

/**
 * Reads rows in batches, and lets other work of the process continue between them. A batch that is not full is the last
 * one.
 *
 * @param read reads up to `size` rows that follow the last row of the previous batch
 */
export async function* readBatches<Row>(
  read: (last: Row | undefined, size: number) => Promise<readonly Row[]>,
  size = ROWS_AT_ONCE,
): AsyncGenerator<readonly Row[], void, undefined> {
  for (let last: Row | undefined; ; ) {
    const rows = await read(last, size);
    if (rows.length > 0) yield rows;
    if (rows.length < size) return;
    last = rows.at(-1);
    await turnEnd();
  }
}
