import type { Contribution, SecondFactors } from '../core/contribution.js';
import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import type { Session } from '../tables/session.js';
import type { UserRecord } from '../users/user-record.js';
import type { Assurance, Shown } from './assurance.js';

/** How recently the owner of an account with a second factor must have shown it, to change a way in. */
export const STRONG_SECONDS = 600;

/** What accounts with a second factor demand, according to the plugin that has them. */
export class SecondFactorRules {
  constructor(
    private readonly database: Database,
    private readonly contributions: () => readonly Contribution[],
  ) {}

  /** The plugin's part. Null if there is none. */
  get plugin(): SecondFactors | null {
    return this.contributions().find(({ secondFactors }) => secondFactors)?.secondFactors ?? null;
  }

  /** Whether an account has a second factor. @param account with the columns of plugins */
  isOn(account: object): boolean {
    return this.plugin?.isOn(account) ?? false;
  }

  /** The assurance that a person reaches with what they have shown. Null if their account requires a second factor first. */
  reached({ account }: Pick<UserRecord, 'account'>, shown: Shown): Assurance | null {
    const { aal = 1, amr } = this.plugin?.trusted(shown) ?? shown;
    return aal < 2 && this.isOn(account) ? null : { aal, amr };
  }

  /**
   * Lets the owner of an account with a second factor change its ways in only if their session has shown it recently,
   * whatever else it has. Other accounts pass.
   *
   * @throws AuthError `second_factor_required`, `reauthentication_required`
   */
  requireFor(account: object, { aal, authenticatedAt }: Pick<Session, 'aal' | 'authenticatedAt'>): void {
    if (!this.isOn(account)) return;
    if (aal < 2) throw new AuthError('second_factor_required');
    const age = this.database.clock.now() - authenticatedAt.getTime();
    if (age > STRONG_SECONDS * 1000) throw new AuthError('reauthentication_required');
  }
}
