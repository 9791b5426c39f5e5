import type { Core } from '../../core/core.js';
import { type Condition, holds, type Task } from '../../sessions/tasks.js';
import type { User } from '../../tables/core.js';
import { HAS_PASSKEY } from '../../users/record.js';
import type { SecondFactorOfUser } from './declarations.js';

/** The users who must have a second factor. */
export type RequiredOption = 'never' | 'administrators' | 'everybody' | Condition;

type Account = Partial<SecondFactorOfUser> & { readonly [HAS_PASSKEY]?: boolean };

const SAID = { name: 'required of twoFactor()', otherwise: 'the user must have a second factor' };

/** Decides which accounts must have a second factor, and what counts as one. */
export class Policy {
  constructor(
    private readonly core: Core,
    private readonly required: RequiredOption,
  ) {}

  /** Whether some accounts must have a second factor. */
  get isOn(): boolean {
    return this.required !== 'never';
  }

  /**
   * Whether an account must have a second factor.
   *
   * @param account has at least the values that its user sees
   * @param whenBroken the result if the app's function fails
   */
  names(account: object, whenBroken = true): boolean {
    const { core, required } = this;
    if (required === 'never' || required === 'everybody') return required === 'everybody';
    // Always pass the same attributes, because the app could otherwise decide differently about the same account.
    const user: User = core.users.selections.shown.pick(account);
    if (required === 'administrators') return core.isAdministrator(user);
    return holds(required, user, core.settings.log, { ...SAID, whenBroken });
  }

  /** Whether an account has a second factor that sign-ins ask for. A passkey counts if the account must have one. */
  isMet(account: object): boolean {
    return isSwitchedOn(account) || (hasAny(account) && this.names(account));
  }

  /** The tasks of accounts that must have a second factor. */
  get tasks(): readonly Task[] {
    return this.isOn ? [this.#enrol, this.#stepUp] : [];
  }

  /** Whether a user has to set up a second factor after a sign-in. */
  mustEnrol(user: User): boolean {
    return !hasAny(user) && this.names(user);
  }

  /** The task of users without a second factor. A session that was verified with one elsewhere does not have it. */
  get #enrol(): Task {
    return {
      name: ENROL,
      page: null,
      holdsKeys: true,
      isListed: true,
      isOpen: (user, session) => (session?.aal ?? 1) < 2 && this.mustEnrol(user),
    };
  }

  /** The task of users with a second factor, who must provide it in each session. */
  get #stepUp(): Task {
    return {
      name: 'give second factor',
      page: null,
      holdsKeys: false,
      isListed: true,
      problem: 'second_factor_required',
      isOpen: (user, session) => session !== null && session.aal < 2 && hasAny(user) && this.names(user),
    };
  }
}

function isSwitchedOn(account: object): boolean {
  return ((account as Account).secondFactorAt ?? null) !== null;
}

/** Whether a user has a second factor, or a passkey that can be one. */
function hasAny(account: object): boolean {
  return isSwitchedOn(account) || (account as Account)[HAS_PASSKEY] === true;
}

/** The task of users who must set up a second factor. */
export const ENROL = 'enroll_second_factor';
