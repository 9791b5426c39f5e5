import { declareProblems } from '../../errors.js';
import { declareEvents, OF_ADMINISTRATOR } from '../../outbox/events.js';
import type { Owner } from '../../owners.js';
import { column, type RowOf } from '../../tables/column.js';

const OWNER: Owner = { name: 'suspension', call: 'suspension()' };

/** The columns that the plugin adds to users. */
export const suspensionColumns = {
  /** When the user was suspended. Null if they are not suspended. */
  suspendedAt: column.time().forAdmins().nullable().exported(),
  /** When the suspension expires. Null if it does not. */
  suspendedUntil: column.time().forAdmins().nullable().exported(),
  /** The reason that administrators noted. Users never see it. */
  suspensionReason: column
    .text(255)
    .forAdmins()
    .nullable()
    .notExported('It is a note for administrators, which users never see.'),
};

/** Whether and why a user is suspended. */
export interface SuspensionOfUser extends RowOf<typeof suspensionColumns> {}

const problems = declareProblems({
  account_suspended: [403, 'This account is suspended. Contact the people who run this service.'],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

declare module '../../outbox/events.js' {
  interface EventDetails {
    /** A user was suspended, or their suspension was changed. `adminId` is null for a programmatic call without it. */
    'user.suspended': { readonly userId: string; readonly adminId: string | null };
    /** A suspension was lifted before it expired. `adminId` is null for a programmatic call without it. */
    'user.reinstated': { readonly userId: string; readonly adminId: string | null };
  }
}

declareEvents(OWNER, {
  'user.suspended': { adminId: OF_ADMINISTRATOR },
  'user.reinstated': { adminId: OF_ADMINISTRATOR },
});
