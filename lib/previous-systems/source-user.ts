import type { ImportRow } from '../users/imported.js';

/** A user as an importer reads them, with what plugins take of a row, whichever the app has. */
export interface SourceUser extends ImportRow {
  readonly accounts?: readonly SourceLink[];
  readonly totpSecret?: string | null;
  readonly recoveryCodes?: readonly string[];
  readonly suspended?: { readonly reason: string | null; readonly until: Date | null } | null;
}

/** An account of theirs at a provider. */
export interface SourceLink {
  readonly provider: string;
  readonly subject: string;
}
