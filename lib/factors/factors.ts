import type { JoinedColumns } from '../waiting/waiting.js';
import { Attempts, type AttemptsNeeds, CodeChecks } from './attempts.js';
import { hashOf, RecoveryCodes } from './recovery-codes.js';
import { Status, type StatusNeeds } from './status.js';
import { Enrolments, type TotpNeeds, TotpSecrets } from './totp.js';

/** What {@link Factors} need. */
export interface FactorsNeeds extends TotpNeeds, AttemptsNeeds, StatusNeeds {}

/** The stored second factors of accounts, and the attempts to provide them. */
export class Factors {
  readonly secrets: TotpSecrets;
  readonly codes: RecoveryCodes;
  readonly enrolments: Enrolments;
  readonly attempts: Attempts;
  readonly checks: CodeChecks;
  readonly status: Status;

  constructor(core: FactorsNeeds) {
    this.secrets = new TotpSecrets(core);
    this.codes = new RecoveryCodes(core);
    this.enrolments = new Enrolments(core);
    this.attempts = new Attempts(core, this.secrets);
    this.checks = new CodeChecks(core, this.secrets, this.codes);
    this.status = new Status(core, this.secrets, this.codes);
  }

  /**
   * Returns what to read together with a pending sign-in: the secret of the user `u`, and whether the user has the recovery
   * code.
   *
   * @param recoveryCode the code that the user has entered. Null if it is not a recovery code
   */
  joined(recoveryCode: string | null): JoinedColumns {
    const { row } = this.secrets;
    const hasCode = recoveryCode === null ? '0' : this.codes.hasSql('u.id');
    return {
      columns: `${row.columns}, ${hasCode} AS has_code`,
      join: `LEFT JOIN ${row.from} ON t.user_id = u.id`,
      ...(recoveryCode !== null && { values: { codeHash: hashOf(recoveryCode) } }),
    };
  }
}
