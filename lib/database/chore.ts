/** Upkeep of one table, such as the deletion of its expired rows. */
export interface Chore {
  /** The name of the table, with the configured prefix. */
  readonly table: string;
  /** Does it, or only counts the rows that it would treat. @returns their number */
  run(dryRun: boolean): Promise<number>;
}

/** Does chores one after another, or only counts. @returns the number of rows, in all and in each table */
export async function runChores(
  chores: readonly Chore[],
  dryRun: boolean,
): Promise<{ readonly rows: number; readonly tables: Readonly<Record<string, number>> }> {
  const tables: Record<string, number> = {};
  let rows = 0;
  for (const chore of chores) {
    const treated = await chore.run(dryRun);
    tables[chore.table] = treated;
    rows += treated;
  }
  return { rows, tables };
}
