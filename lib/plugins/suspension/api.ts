import type { Transaction } from 'sequelize';
import { BY_CODE, type Core } from '../../core/core.js';
import { AuthError, type GivenFieldError, invalidField } from '../../errors.js';
import { endingWithObject } from '../../known-keys.js';
import { say } from '../../phrases.js';
import type { TransactionOption } from '../../sessions/request.js';
import { LAST_TIME } from '../../tables/column.js';
import type { User } from '../../tables/core.js';
import { declareRowKeys, type RowReader, type RowValues } from '../../users/imported.js';
import type { AccountRow } from '../../users/record.js';
import type { SuspensionOfUser, suspensionColumns } from './declarations.js';

/** The suspension of a user, for `auth.movingIn.importUsers`. */
export type ImportedSuspension = Pick<SuspendOptions, 'reason' | 'until'>;

declare module '../../users/imported.js' {
  interface ImportRow {
    /** The suspension of the user; `{}` has no reason and no end. @default null: the user is not suspended */
    suspended?: ImportedSuspension | null | undefined;
  }
}

declareRowKeys(['suspended'], 'add suspension() to plugins');

/** Reads the suspensions of users from the rows of an import. */
export function suspensionsOfRows({ database, sessions, users }: Core): RowReader<SuspensionOfUser> {
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
    valuesOf,
    valuesNow: async ({ account }) => valuesOf(account as unknown as SuspensionOfUser),
    async replace({ user: { id } }, suspension, transaction) {
      await users.setColumns<typeof suspensionColumns>(id, suspension ?? NONE, transaction);
      if (suspension) await sessions.endAll(id, transaction);
    },
  };
}

/** The start of a suspension is not compared, because the import sets it. */
function valuesOf({ suspendedAt, suspendedUntil, suspensionReason }: SuspensionOfUser): RowValues {
  if (suspendedAt === null) return {};
  return { suspended: JSON.stringify([suspendedUntil, suspensionReason]) };
}

/** Options of `auth.suspension.reinstate`. */
export interface ReinstateOptions extends TransactionOption {
  /** The id of the administrator who reinstates the user, for the event. @default null: the app itself */
  adminId?: string | null;
}

/** Options of `auth.suspension.suspend`. */
export interface SuspendOptions extends TransactionOption {
  /** A note for administrators, at most 255 characters. Users never see it. @default none */
  reason?: string | null | undefined;
  /** When the suspension expires. @default never */
  until?: Date | null | undefined;
  /**
   * The id of the administrator who suspends the user, for the event. It cannot be the user.
   * @default null: the app itself
   */
  adminId?: string | null;
}

/** A user, and whether and why they are suspended. */
export interface SuspendedUser extends User, SuspensionOfUser {}

const MAX_REASON = 255;
const NONE: SuspensionOfUser = { suspendedAt: null, suspendedUntil: null, suspensionReason: null };

/** `auth.suspension`: suspends users, until they are reinstated or until a given time. */
export class SuspensionApi {
  readonly #core: Core;

  /** @internal */
  constructor(core: Core) {
    this.#core = core;
    endingWithObject('auth.suspension', this);
  }

  /**
   * Suspends a user, or replaces the reason and the end of a suspension. All of the user's sessions and sign-ins in
   * progress are revoked. Until the suspension ends, every sign-in method and every API key is rejected with
   * `account_suspended`.
   *
   * @throws AuthError `user_not_found` (404), `own_account` (409), `validation_failed` (422)
   */
  suspend(userId: string, options: SuspendOptions = {}): Promise<SuspendedUser> {
    const { adminId = null, reason, until } = options;
    return this.#core.call('auth.suspension.suspend', options, ['adminId', 'reason', 'until'], async () => {
      if (adminId === userId) throw new AuthError('own_account');
      const { database, sessions, events } = this.#core;
      await database.ready();
      const checked = checkOptions({ reason, until }, database.clock.now());
      return this.#core.change(userId, BY_CODE, async (_record, transaction) => {
        const suspension = {
          suspendedAt: database.clock.date(),
          suspendedUntil: checked.until,
          suspensionReason: checked.reason,
        };
        events.emit('user.suspended', { userId, adminId }, transaction);
        await sessions.endAll(userId, transaction);
        return this.#write(userId, suspension, transaction);
      });
    });
  }

  /**
   * Lifts a suspension. The user must sign in again, and their API keys work again.
   *
   * @throws AuthError `user_not_found`
   */
  reinstate(userId: string, options: ReinstateOptions = {}): Promise<SuspendedUser> {
    const core = this.#core;
    const { adminId = null } = options;
    return core.call('auth.suspension.reinstate', options, ['adminId'], () =>
      core.change(userId, BY_CODE, async ({ account }, within) => {
        if (this.isSuspended(account)) core.events.emit('user.reinstated', { userId, adminId }, within);
        return this.#write(userId, NONE, within);
      }),
    );
  }

  async #write(
    userId: string,
    suspension: SuspensionOfUser,
    transaction: Transaction,
  ): Promise<SuspendedUser> {
    const { users } = this.#core;
    await users.setColumns<typeof suspensionColumns>(userId, suspension, transaction);
    await users.announceChange(userId, ['suspended'], transaction);
    return (await users.find(userId, transaction)) as unknown as SuspendedUser;
  }

  /** @internal */
  isSuspended(account: AccountRow | SuspendedUser): boolean {
    const { suspendedAt, suspendedUntil } = account as SuspendedUser;
    // Compare with the database's clock only: if a process's clock is ahead, the suspension would end too early.
    return (
      suspendedAt !== null &&
      (suspendedUntil === null || suspendedUntil.getTime() > this.#core.database.clock.now())
    );
  }
}

/** @throws AuthError `validation_failed` */
function checkOptions(
  { reason = null, until = null }: Pick<SuspendOptions, 'reason' | 'until'>,
  now: number,
) {
  const errors: GivenFieldError[] = [];
  const isText = typeof reason === 'string' && reason.isWellFormed() && !reason.includes('\0');
  if (reason !== null && (!isText || reason.length > MAX_REASON)) {
    const detail = say('reason-too-long', { maximum: MAX_REASON });
    errors.push({ pointer: '/reason', code: 'invalid_reason', detail });
  }
  const isTime = until instanceof Date && until.getTime() > now && until.getTime() < LAST_TIME;
  if (until !== null && !isTime) {
    errors.push({ pointer: '/until', code: 'invalid_end', detail: say('not-in-future') });
  }
  if (errors.length > 0) throw new AuthError('validation_failed', { errors });
  return { reason: reason?.trim() || null, until };
}
