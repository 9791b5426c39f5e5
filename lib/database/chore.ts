/** Upkeep of one table, such as the deletion of its expired rows. */
export interface Chore {
  /** The name of the table, with the configured prefix. */
  readonly table: string;
  /** Does it, or only counts the rows that it would treat. @returns their number */
  run(dryRun: boolean): Promise<number>;
}

/** Does chores one after another, or only counts. @returns the number of rows in each table */
export async function runChores(
  chores: readonly Chore[],
  dryRun: boolean,
): Promise<Readonly<Record<string, number>>> {
  const rows: Record<string, number> = {};
  for (const chore of chores) rows[chore.table] = await chore.run(dryRun);
  return rows;
}
