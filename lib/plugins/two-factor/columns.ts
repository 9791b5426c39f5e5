import { column, type RowOf } from '../../tables/column.js';

/** The column that the plugin adds to users, so that the statement that reads a user says whether they have a second factor. */
export const secondFactorColumns = {
  /** When the user switched their second factor on. Null if they have none. */
  secondFactorAt: column.time().nullable(),
};

/** Whether a user has a second factor. */
export interface SecondFactorOfUser extends RowOf<typeof secondFactorColumns> {}
