/** The number of rows that are found at once. */
export const BATCH = 500;
// The more rows a statement deletes, the longer it holds up other writers, most of all while MySQL's redo log is full.
const AT_ONCE = 100;
const LEAST_PAUSE_MS = 10;

/**
 * Deletes rows a few at a time, since one large DELETE would block other statements for seconds. Each time is followed by a
 * pause as long as it took, so that others get at least half of the database's time.
 *
 * @param find selects up to {@link BATCH} of the rows that are left
 * @param treat deletes rows, or sees to it that they are not found again. @returns how many it has deleted
 * @returns the number of deleted rows
 */
export async function inBatches<Row>(
  find: () => Promise<Row[]>,
  treat: (rows: readonly Row[]) => Promise<number>,
): Promise<number> {
  for (let total = 0, begun = performance.now(); ; ) {
    const rows = await find();
    const isLast = rows.length < BATCH;
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      total += await treat(rows.slice(at, at + AT_ONCE));
      if (isLast && at + AT_ONCE >= rows.length) break;
      const pauseMs = Math.max(LEAST_PAUSE_MS, performance.now() - begun);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      begun = performance.now();
    }
    if (isLast) return total;
  }
}
