/** Everything that is stored about a user, by table. The tables depend on the server's plugins. */
export interface AccountExport {
  readonly exported_at: string;
  readonly user: Readonly<Record<string, unknown>>;
  readonly [table: string]: unknown;
}
