import { column, type RowOf } from '../../tables/column.js';

/** The columns that the plugin adds to users. */
export const suspensionColumns = {
  /** When the user was suspended. Null if they are not. */
  suspendedAt: column.time().forAdmins().nullable(),
  /** When the suspension ends by itself. Null if it does not. */
  suspendedUntil: column.time().forAdmins().nullable(),
  /** What administrators noted. Users never see it. */
  suspensionReason: column.text(255).forAdmins().nullable(),
};

/** Whether and why a user is suspended. */
export interface SuspensionOfUser extends RowOf<typeof suspensionColumns> {}
