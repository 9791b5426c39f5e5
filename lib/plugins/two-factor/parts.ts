import type { Core } from '../../core/core.js';
import { SecondFactorChanges, Status } from './changes.js';
import type { Policy } from './policy.js';
import { CodeAttempts, Proofs } from './proofs.js';
import { RecoveryCodes } from './recovery-codes.js';
import { Enrolments, TotpSecrets } from './secrets.js';

/** The parts of the plugin. */
export type Parts = ReturnType<typeof makeParts>;

export function makeParts(core: Core, policy: Policy) {
  const secrets = new TotpSecrets(core);
  const codes = new RecoveryCodes(core);
  const enrolments = new Enrolments(core);
  return {
    secrets,
    codes,
    enrolments,
    policy,
    attempts: new CodeAttempts(core, secrets),
    proofs: new Proofs(core, secrets, codes),
    status: new Status(core, secrets, codes),
    changes: new SecondFactorChanges(core, { secrets, codes, enrolments, policy }),
  };
}
