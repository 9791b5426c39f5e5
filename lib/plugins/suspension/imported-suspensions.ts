import type { Core } from '../../core/core.js';
import { declareRowKeys } from '../../core/switches.js';
import { invalidField } from '../../errors.js';
import type { RowPart } from '../../users/row-part.js';
import { checkOptions, type SuspendOptions } from './api.js';
import type { SuspensionOfUser } from './columns.js';

/** The suspension of a user, for `auth.importUsers`. */
export type ImportedSuspension = Pick<SuspendOptions, 'reason' | 'until'>;

declare module '../../users/imported.js' {
  interface ImportRow {
    /** Whether, and why, the user may not sign in: `{}` is enough. @default null: the user may */
    suspended?: ImportedSuspension | null | undefined;
  }
}

declareRowKeys(['suspended'], 'add suspension() to plugins');

/** What an import takes from a row for the suspension of its user. */
export function suspensionsOfRows({ database }: Core): RowPart<SuspensionOfUser> {
  return {
    keys: ['suspended'],
    async read({ suspended }) {
      if (typeof suspended !== 'object' || suspended === null)
        throw invalidField(
          '/suspended',
          'invalid_suspension',
          'must be an object, such as { reason: "spam" }',
        );
      const { reason, until } = checkOptions(suspended, database.clock.now());
      return { suspendedAt: database.clock.date(), suspendedUntil: until, suspensionReason: reason };
    },
    columnsOf: (suspension) => ({ ...suspension }),
  };
}
