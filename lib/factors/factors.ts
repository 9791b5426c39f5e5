import type { JoinedColumns } from '../waiting/waiting.js';
import { Attempts, type AttemptsNeeds, CodeChecks } from './attempts.js';
import { RecoveryCodes, type RecoveryCodesNeeds } from './recovery-codes.js';
import { Status, type StatusNeeds } from './status.js';
import { Enrolments, type TotpNeeds, TotpSecrets } from './totp.js';

/** What {@link Factors} need. */
export interface FactorsNeeds extends TotpNeeds, RecoveryCodesNeeds, AttemptsNeeds, StatusNeeds {}

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

  /** What to read together with a pending sign-in: the secret of the user `u`. */
  get joined(): JoinedColumns {
    const { row } = this.secrets;
    return { columns: row.columns, join: `LEFT JOIN ${row.from} ON t.user_id = u.id` };
  }
}
